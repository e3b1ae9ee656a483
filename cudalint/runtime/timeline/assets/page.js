"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const page = document.getElementById("page");
  // Okabe and Ito's colours: told apart by every kind of colour vision, on light and on dark.
  const COLORS = ["#e69f00", "#56b4e9", "#009e73", "#cc79a7", "#0072b2", "#d55e00", "#f0e442"];
  const OTHER = "#9aa1ab";
  const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  const state = { run: 0, axis: "time", space: 0, column: 0, sort: "left", falling: true, filter: "", open: new Set(), all: false };
  const ROWS = 50;
  let run, space, colors, charts = {};

  // Words and numbers ---------------------------------------------------------------------------

  function bytes(n) {
    let unit = 0, scaled = Math.abs(n);
    while (scaled >= 1023.5 && unit < UNITS.length - 1) { scaled /= 1024; unit++; }
    const digits = unit === 0 || scaled >= 100 ? 0 : scaled >= 10 ? 1 : 2;
    return `${n < 0 ? "-" : ""}${parseFloat(scaled.toFixed(digits))} ${UNITS[unit]}`;
  }
  const exact = (n) => `${count.format(n)} bytes`;
  function duration(ns) {
    const [unit, name] = timeUnit(Math.abs(ns));
    return `${parseFloat((ns / unit).toPrecision(4))} ${name}`;
  }
  function timeUnit(ns) {
    return ns >= 1e9 ? [1e9, "s"] : ns >= 1e6 ? [1e6, "ms"] : ns >= 1e3 ? [1e3, "µs"] : [1, "ns"];
  }
  const share = (part, whole) => whole ? `${parseFloat((100 * part / whole).toFixed(part / whole < 0.1 ? 1 : 0))} %` : "";

  // Plotly reads a little HTML in its labels, and %{...} in its templates.
  const label = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  // Sites ---------------------------------------------------------------------------------------

  function siteName(number, length = 60) {
    if (number < 0) return number === -2 ? "a site that is not listed" : "all other sites";
    const site = run.sites[number];
    const name = `${site.place} ${site.api}`;
    return name.length > length ? "…" + name.slice(name.length - length + 1) : name;
  }
  function leaking(number) {
    if (!run.complete) return false;
    if (number >= 0) return run.sites[number].leftCount > 0;
    const drawn = new Set(space.series.map((one) => one.site));
    return run.rest.left > 0 || run.sites.some((site, one) => site.space === space.key && site.leftCount > 0 && !drawn.has(one));
  }
  const colorOf = (number) => colors.get(number) || OTHER;
  function chooseColors() {
    colors = new Map();
    let next = 0;
    // The same site has one colour in every chart.
    for (const one of run.spaces) {
      for (const series of one.series) if (series.site >= 0) colors.set(series.site, COLORS[next++ % COLORS.length]);
    }
  }
  function swatch(number) {
    const kind = number === "hole" ? "swatch hole" : leaking(number) ? "swatch leaking" : "swatch";
    return make("span", { class: kind, "aria-hidden": "true", style: number === "hole" ? {} : { backgroundColor: colorOf(number) } });
  }

  // Charts --------------------------------------------------------------------------------------

  const at = (steps, times) => state.axis === "time" ? times : steps;
  const xOf = (moment) => state.axis === "time" ? moment[1] / timeUnit(run.duration)[0] : moment[0];
  function axisX() {
    const [scale, unit] = timeUnit(run.duration);
    // What passed before the first allocation is of no interest.
    const first = run.spaces.reduce((low, one) => Math.min(low, one.times[1] ?? one.times[0]), Infinity);
    const begin = Math.max(0, first - 0.02 * (run.duration - first));
    return {
      title: { text: state.axis === "time" ? `time since the run began (${unit})` : "allocations and releases, in their order", font: { size: 12 } },
      gridcolor: css("--grid"), linecolor: css("--line"), zeroline: false, tickformat: state.axis === "time" ? "" : ",d",
      range: state.axis === "time" ? [begin / scale, Math.max(run.duration, begin + 1) / scale] : [0, Math.max(run.steps, 1)],
    };
  }
  function ticks(top) {
    let step = 1;
    while (top / step > 6) step *= 2;
    // Steps of a power of two are round in these units.
    const values = [];
    for (let value = 0; value <= top * 1.001; value += step) values.push(value);
    return { tickmode: "array", tickvals: values, ticktext: values.map(bytes) };
  }
  function layout(height, more) {
    return {
      height, margin: { l: 96, r: 16, t: 26, b: 44 }, showlegend: false,
      paper_bgcolor: css("--raised"), plot_bgcolor: css("--raised"),
      font: { family: getComputedStyle(document.body).fontFamily, size: 12, color: css("--ink") },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: css("--soft"), activecolor: css("--ink") },
      hoverlabel: { bgcolor: css("--raised"), bordercolor: css("--line"), font: { color: css("--ink"), size: 12 }, namelength: -1, align: "left" },
      ...more,
    };
  }
  const CONFIG = { responsive: true, displaylogo: false, showLink: false, showSendToCloud: false, modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d", "zoomIn2d", "zoomOut2d"], toImageButtonOptions: { filename: "memory-timeline", scale: 2 } };
  const line = (x, color, dash) => ({ type: "line", xref: "x", yref: "paper", x0: x, x1: x, y0: 0, y1: 1, line: { color, width: 1.5, dash } });

  function drawLevels() {
    const unit = timeUnit(run.duration)[0];
    const times = space.times.map((time) => time / unit);
    const x = at(space.steps, times).slice();
    const end = xOf([run.steps, run.duration]);
    const longer = x.length > 0 && x[x.length - 1] < end;
    if (longer) x.push(end);
    const ended = (values) => longer ? [...values, values[values.length - 1]] : values;
    const traces = space.series.map((one) => {
      const values = ended(one.values);
      const color = one.site < 0 ? OTHER : colorOf(one.site);
      return {
        type: "scatter", mode: "lines", stackgroup: "bytes", x, y: values, name: label(siteName(one.site)),
        line: { shape: "hv", width: 0.8, color }, fillcolor: color,
        fillpattern: leaking(one.site) ? { shape: "/", bgcolor: color, fgcolor: "rgba(0,0,0,.6)", size: 7, solidity: 0.22 } : undefined,
        text: values.map(bytes), hovertemplate: "%{text}",
      };
    });
    if (space.leaks.length) traces.push({
      type: "scatter", mode: "markers", x: space.leaks.map((leak) => xOf(leak.at)), y: space.leaks.map((leak) => leak.level),
      name: "never released", cliponaxis: false,
      marker: { symbol: "x", size: 9, color: css("--leak"), line: { color: css("--raised"), width: 1 } },
      text: space.leaks.map((leak) => `${many(leak.count, "allocation")}, ${bytes(leak.bytes)}: ${label(leak.sites.map((site) => siteName(site, 44)).join("; "))}${leak.siteCount > leak.sites.length ? " and others" : ""}`),
      hovertemplate: "%{text}",
    });
    const peak = xOf(space.peak);
    const axis = axisX();
    const right = peak > (axis.range[0] + axis.range[1]) / 2;
    const plot = layout(360, {
      hovermode: "x unified", hoverdistance: -1,
      // The nearest step may be ahead of the pointer: the line shows which one is told of.
      xaxis: { ...axis, showspikes: true, spikemode: "across", spikesnap: "data", spikedash: "solid", spikethickness: 1, spikecolor: css("--soft"), unifiedhovertitle: { text: state.axis === "time" ? `%{x} ${timeUnit(run.duration)[1]}` : "step %{x}" } },
      yaxis: { ...ticks(space.peakBytes), range: [0, Math.max(space.peakBytes, 1) * 1.12], fixedrange: true, gridcolor: css("--grid"), zeroline: false, title: { text: "live bytes", font: { size: 12 }, standoff: 12 } },
      shapes: marks(),
      annotations: [{
        x: peak, y: space.peakBytes, text: `<b>peak ${bytes(space.peakBytes)}</b>`, showarrow: true, arrowhead: 2, arrowcolor: css("--ink"),
        ax: right ? -54 : 54, ay: -18, bgcolor: css("--raised"), bordercolor: css("--line"), borderpad: 3,
      }],
    });
    return Plotly.react(charts.levels, traces, plot, CONFIG);
  }
  function marks() {
    const column = run.map && run.map.columns[state.column];
    return column ? [line(xOf(column.at), css("--ink"), "dot")] : [];
  }
  function cellsOf(column) {
    const cells = [];
    for (let i = 0; i < column.runs.length; i += 2) for (let n = column.runs[i + 1]; n > 0; n--) cells.push(column.runs[i]);
    return cells;
  }
  function drawMap() {
    const map = run.map;
    const legend = [...colors.keys()];
    const z = Array.from({ length: map.cells }, () => new Array(map.columns.length).fill(null));
    map.columns.forEach((column, number) => cellsOf(column).forEach((site, cell) => {
      z[cell][number] = site === -1 ? 0 : colors.has(site) ? 1 + legend.indexOf(site) : legend.length + 1;
    }));
    const palette = [css("--hole"), ...legend.map(colorOf), OTHER];
    const scale = palette.flatMap((color, number) => [[number / palette.length, color], [(number + 1) / palette.length, color]]);
    const edges = map.columns.map((column) => xOf(column.at));
    edges.push(Math.max(xOf([run.steps, run.duration]), edges[edges.length - 1]) + (state.axis === "time" ? 0 : 1));
    const rows = Array.from({ length: map.cells + 1 }, (_, number) => number * map.cell);
    const trace = { type: "heatmap", x: edges, y: rows, z, zmin: -0.5, zmax: palette.length - 0.5, colorscale: scale, showscale: false, hoverinfo: "none", zsmooth: false };
    const top = map.cells * map.cell;
    return Plotly.react(charts.map, [trace], layout(300, {
      hovermode: "closest", margin: { l: 96, r: 16, t: 10, b: 44 }, xaxis: axisX(), shapes: marks(),
      yaxis: { ...ticks(top), range: [0, top], fixedrange: true, gridcolor: css("--grid"), zeroline: false, title: { text: "address, from the lowest", font: { size: 12 }, standoff: 12 } },
    }), CONFIG);
  }
  function addressAt(offset) {
    const region = run.map.regions.filter((one) => one.offset <= offset).pop();
    return "0x" + (BigInt(region.start) + BigInt(Math.floor(offset - region.offset))).toString(16);
  }
  function drawStrip() {
    const map = run.map, column = map.columns[state.column];
    charts.strip.replaceChildren();
    let cell = 0;
    for (let i = 0; i < column.runs.length; i += 2) {
      const site = column.runs[i], length = column.runs[i + 1];
      const width = 100 * length / map.cells;
      const where = `${addressAt(cell * map.cell)}, ${bytes(length * map.cell)}`;
      charts.strip.append(make("span", {
        class: site === -1 ? "hole" : width > 0.4 ? "edge" : "", title: `${site === -1 ? "hole" : siteName(site)}: ${where}`,
        style: { width: `${width}%`, backgroundColor: site === -1 ? "" : colorOf(site) },
      }, width > 7 ? isolated(site === -1 ? "" : bytes(length * map.cell)) : ""));
      cell += length;
    }
    charts.strip.setAttribute("aria-label", `Addresses at the chosen moment: ${many(column.blocks, "block")}, ${many(column.holes, "hole")}`);
    const free = run.memory - column.bytes;
    const facts = [
      ["Moment", `${duration(column.at[1])}, step ${count.format(column.at[0])}`],
      ["Live", `${bytes(column.bytes)} in ${many(column.blocks, "block")}`],
      ["Holes between blocks", column.holes ? `${count.format(column.holes)}, ${bytes(column.holeBytes)} together` : "none"],
      ["Largest hole", column.holes ? bytes(column.largestHole) : "none"],
    ];
    if (column.largestFree !== null) facts.push(["Largest free block", `${bytes(column.largestFree)} (${share(column.largestFree, free)} of what is free)`]);
    charts.facts.replaceChildren(...facts.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value))));
    charts.slider.value = String(state.column);
    charts.slider.setAttribute("aria-valuetext", `${duration(column.at[1])}, ${bytes(column.bytes)} live`);
  }
  function moveTo(column) {
    state.column = Math.max(0, Math.min(run.map.columns.length - 1, column));
    drawStrip();
    for (const chart of [charts.levels, charts.map]) if (chart) Plotly.relayout(chart, { shapes: marks() });
  }
  function columnAt(x) {
    let found = 0;
    run.map.columns.forEach((column, number) => { if (xOf(column.at) <= x) found = number; });
    return found;
  }
  function connect() {
    charts.levels.on("plotly_click", (event) => { if (run.map) moveTo(columnAt(event.points[0].x)); });
    if (charts.map) {
      // The middle of a cell is not where it begins.
      charts.map.on("plotly_click", (event) => moveTo(event.points[0].pointIndex[1]));
      charts.map.on("plotly_hover", (event) => {
        const [row, number] = event.points[0].pointIndex;
        const site = cellsOf(run.map.columns[number])[row];
        const what = site === -1 ? "a hole" : site === undefined ? "free, above the highest block" : siteName(site, 110);
        charts.readout.replaceChildren(isolated(`${addressAt(row * run.map.cell)}: ${what}`), `, at ${duration(run.map.columns[number].at[1])}`);
      });
    }
    let busy = false;
    const both = [charts.levels, charts.map].filter(Boolean);
    for (const chart of both) chart.on("plotly_relayout", (change) => {
      const ranged = "xaxis.range[0]" in change || "xaxis.autorange" in change;
      if (busy || !ranged) return;
      busy = true;
      const range = "xaxis.autorange" in change ? axisX().range : [change["xaxis.range[0]"], change["xaxis.range[1]"]];
      Promise.all(both.map((other) => Plotly.relayout(other, { "xaxis.range": range.slice() }))).finally(() => { busy = false; });
    });
  }

  // Table ---------------------------------------------------------------------------------------

  const COLUMNS = [
    ["place", "Where", (site) => site.place.replace(/\d+$/, (n) => n.padStart(7, "0"))],
    ["api", "Function", (site) => site.api],
    ["count", "Count", (site) => site.count],
    ["total", "Allocated", (site) => site.total],
    ["peak", "At the peak", (site) => site.peak],
    ["left", "Live at end", (site) => site.leftBytes * 1e6 + site.leftCount],
    ["findings", "Findings", (site) => site.findings.length ? data.findings[site.findings[0]].code : ""],
  ];
  const NUMBERS = new Set(["count", "total", "peak", "left"]);
  function peakOf(site) {
    const own = run.spaces.find((one) => one.key === site.space);
    return own ? own.peakBytes : 0;
  }
  function findingTag(number) {
    const finding = data.findings[number];
    const outcome = finding.verdict && finding.verdict.outcome;
    const kind = outcome === "confirmed" ? "leak" : outcome === "refuted" ? "good" : "plain";
    return make("span", {},
      make("span", { title: finding.name }, finding.code), " ",
      make("span", { class: `tag ${kind}` }, outcome ? outcome.replace("-", " ") : "not run"));
  }
  function siteRow(number) {
    const site = run.sites[number];
    const handle = site.space === "handle";
    const size = (n) => handle ? "–" : make("span", { title: exact(n) }, bytes(n));
    const peak = peakOf(site);
    const name = make("button", {
      type: "button", "aria-expanded": String(state.open.has(number)), "aria-controls": `details-${number}`,
      onclick: () => { if (!state.open.delete(number)) state.open.add(number); drawTable(); document.querySelector(`#site-${number} button`).focus(); },
    }, isolated(site.place, { class: "mono" }));
    const left = !site.leftCount ? "–"
      : make("span", { class: run.complete ? "leaks" : "" }, run.complete ? "✕ " : "", handle ? many(site.leftCount, "handle") : bytes(site.leftBytes), handle ? "" : ` in ${count.format(site.leftCount)}`);
    return make("tr", { id: `site-${number}` },
      make("td", { class: "site" }, make("div", { class: "row" }, handle ? make("span", { class: "swatch", style: { visibility: "hidden" } }) : swatch(number),
        make("div", {}, name, site.function ? make("div", { class: "soft small" }, "in ", isolated(site.function, { class: "mono" })) : ""))),
      make("td", {}, isolated(site.api, { class: "mono" }), make("div", { class: "soft small" }, site.family)),
      make("td", { class: "number" }, count.format(site.count)),
      make("td", { class: "number" }, size(site.total)),
      make("td", { class: "number" }, size(site.peak), handle || !peak ? "" : [
        make("span", { class: "soft" }, ` ${share(site.peak, peak)}`),
        make("span", { class: "bar", "aria-hidden": "true" }, make("i", { style: { width: `${100 * site.peak / peak}%`, background: colorOf(number) } }))]),
      make("td", { class: "number" }, left, site.reset ? make("div", { class: "soft small" }, `${count.format(site.reset)} only by reset`) : ""),
      make("td", {}, make("div", { class: "findings" }, site.findings.map(findingTag))));
  }
  function detailsRow(number) {
    const site = run.sites[number];
    const cell = make("td", { colspan: COLUMNS.length });
    for (const one of site.findings) {
      const finding = data.findings[one], verdict = finding.verdict;
      cell.append(make("h3", {}, `${finding.code} ${finding.name}${finding.suppressed ? " (suppressed)" : ""}`), make("p", { class: "small" }, isolated(finding.message), " ", isolated(finding.place, { class: "mono soft" })));
      if (verdict) cell.append(make("p", { class: "small soft" }, `${verdict.outcome.replace("-", " ")} on ${verdict.device}`, verdict.reason ? ": " : "", verdict.reason ? isolated(verdict.reason) : ""),
        ...verdict.evidence.map((text) => make("p", { class: "small soft" }, "• ", isolated(text))));
    }
    if (site.excerpt.length) {
      cell.append(make("h3", {}, "Source ", site.href ? make("a", { href: site.href, rel: "noreferrer" }, "open file") : "", " ", site.editor ? make("a", { href: site.editor, rel: "noreferrer" }, "open in VS Code") : ""),
        make("pre", { tabindex: "0", "aria-label": "source" }, site.excerpt.map(([row, text]) => make("span", { class: row === site.line ? "here" : "" }, make("i", {}, String(row)), isolated(text)))));
    } else if (site.href) cell.append(make("h3", {}, make("a", { href: site.href, rel: "noreferrer" }, "open file")));
    for (const stack of site.stacks) {
      if (!stack.frames.length) continue;
      cell.append(make("h3", {}, `Called from (${many(stack.count, "time")}), innermost first`), make("ol", { class: "stack" }, stack.frames.map((frame) => make("li", {}, isolated(frame, { class: "mono" })))));
    }
    cell.append(make("p", { class: "small soft" }, `${many(site.count, "allocation")}${site.space === "handle" ? "" : `, the largest ${bytes(site.largest)}; at most ${bytes(site.most)} at once`}.`));
    return make("tr", { class: "details", id: `details-${number}` }, cell);
  }
  function drawTable() {
    const column = COLUMNS.find(([key]) => key === state.sort);
    const wanted = state.filter.toLowerCase();
    const order = run.sites.map((_, number) => number).filter((number) => {
      const site = run.sites[number];
      return !wanted || [site.place, site.api, site.function, site.family, ...site.findings.map((one) => data.findings[one].code)].join("\n").toLowerCase().includes(wanted);
    });
    const value = column[2];
    order.sort((a, b) => {
      const left = value(run.sites[a]), right = value(run.sites[b]);
      const by = left < right ? -1 : left > right ? 1 : 0;
      return (state.falling ? -by : by) || a - b;
    });
    charts.heads.replaceChildren(...COLUMNS.map(([key, text]) => make("th", {
      scope: "col", class: NUMBERS.has(key) ? "number" : "", "aria-sort": key === state.sort ? (state.falling ? "descending" : "ascending") : "none",
    }, make("button", { type: "button", "data-sort": key, onclick: () => {
      state.falling = key === state.sort ? !state.falling : NUMBERS.has(key) || key === "findings";
      state.sort = key;
      drawTable();
      charts.heads.querySelector(`[data-sort="${key}"]`).focus();
    } }, text))));
    const hidden = state.all || order.length <= ROWS * 1.2 ? 0 : order.length - ROWS;
    charts.rows.replaceChildren(...order.slice(0, order.length - hidden).flatMap((number) => state.open.has(number) ? [siteRow(number), detailsRow(number)] : [siteRow(number)]));
    if (hidden) charts.rows.append(make("tr", {}, make("td", { colspan: COLUMNS.length }, make("button", {
      type: "button", id: "all", onclick: () => { state.all = true; drawTable(); },
    }, `Show ${count.format(hidden)} more`))));
    if (!order.length) charts.rows.append(make("tr", {}, make("td", { colspan: COLUMNS.length, class: "soft" }, "No site matches.")));
  }

  function lost(one) {
    return one.complete ? one.sites.reduce((sum, site) => sum + site.leftCount, 0) + one.rest.left : 0;
  }

  // Page ----------------------------------------------------------------------------------------

  function summary() {
    const main = run.spaces[0];
    const left = run.sites.reduce((sum, site) => sum + site.leftCount, 0) + run.rest.left;
    const leftBytes = run.spaces.reduce((sum, one) => sum + one.endBytes, 0);
    const total = run.sites.reduce((sum, site) => sum + site.count, 0) + run.rest.count;
    const card = (name, value, note, kind) => make("div", { class: `card ${kind || ""}` }, make("div", { class: "name" }, name), make("div", { class: "value" }, value), make("div", { class: "soft small" }, note));
    const cards = [card(`Peak, ${main.label.toLowerCase()}`, bytes(main.peakBytes),
      `${duration(main.peak[1])} into the run${main.peakBytes >= 0.001 * run.memory && run.memory && main.key === "device" ? `, ${share(main.peakBytes, run.memory)} of the device` : ""}`)];
    if (!run.complete) cards.push(card("Live when it was ended", bytes(leftBytes), `${many(left, "allocation")}; not counted as leaks, as the program never came to its end`));
    else cards.push(left ? card("Never released", leftBytes ? bytes(leftBytes) : many(left, "handle"), many(left, "allocation"), "leak") : card("Never released", "nothing", "every allocation was released", "good"));
    cards.push(card("Allocations", count.format(total), `at ${many(run.sites.length + run.rest.sites, "site")}, in ${duration(run.duration)}`));
    if (run.map) {
      const worst = run.map.columns[run.map.worst];
      cards.push(card("Fragmentation, at worst", worst.holeBytes ? bytes(worst.holeBytes) : "none",
        worst.holeBytes ? `in ${many(worst.holes, "hole")} between live blocks, the largest ${bytes(worst.largestHole)}` : "no free memory between live blocks"));
    }
    const top = run.sites.map((site, number) => [site, number]).filter(([site]) => site.space === main.key).sort((a, b) => b[0].peak - a[0].peak)[0];
    const words = [`At its peak, ${duration(main.peak[1])} into the run, the program held ${bytes(main.peakBytes)} of ${main.label.toLowerCase()}`];
    if (top && top[0].peak >= 0.1 * main.peakBytes) words.push(`, ${share(top[0].peak, main.peakBytes)} of it from `, isolated(top[0].place, { class: "mono" }));
    words.push(". ");
    if (run.complete) words.push(left ? `When it ended, ${many(left, "allocation")} had never been released: hatched below, and marked ✕ where they were made.` : "All of it was released before the end.");
    return [make("p", { class: "lead" }, words), make("div", { class: "cards" }, cards)];
  }
  function levels() {
    charts.levels = make("div", { class: "chart", id: "levels", role: "img", "aria-label": `Live bytes over time, by site; peak ${bytes(space.peakBytes)}; the table below has the numbers` });
    const pick = run.spaces.length > 1 ? choice("kind of memory", run.spaces.map((one, number) => [number, one.label]), state.space, (key) => { state.space = key; draw(); }) : "";
    return make("section", { "aria-labelledby": "levels-title" },
      make("div", { class: "head" },
        make("div", {}, make("h2", { id: "levels-title" }, `${space.label} over time`), make("p", { class: "soft small" }, "What lived at each moment, one band for each line of source that allocates. Drag to zoom, double-click to zoom out", run.map ? "; click to see the addresses of that moment." : ".")),
        make("span", { class: "tools" }, pick, " ", choice("horizontal axis", [["time", "Time"], ["step", "Order"]], state.axis, (key) => { state.axis = key; draw(); }))),
      charts.levels,
      make("ul", { class: "legend", "aria-label": "legend" }, space.series.map((one) => make("li", {}, swatch(one.site), isolated(siteName(one.site), { class: "mono" }))),
        space.leaks.length ? make("li", {}, make("span", { class: "leaks", "aria-hidden": "true" }, "✕"), "never released") : ""));
  }
  function addresses() {
    const map = run.map;
    if (!map) { charts.map = null; return ""; }
    charts.map = make("div", { class: "chart", id: "map", role: "img", "aria-label": "Addresses of device memory over time; the strip below shows one moment" });
    charts.readout = make("p", { class: "readout", "aria-hidden": "true" }, "Point at the map to see whose memory it is.");
    charts.strip = make("div", { class: "strip", id: "strip", role: "img" });
    charts.facts = make("dl", { class: "facts", id: "facts", "aria-live": "polite" });
    charts.slider = make("input", { type: "range", id: "moment", min: "0", max: String(map.columns.length - 1), step: "1", "aria-label": "moment shown", oninput: (event) => moveTo(Number(event.target.value)) });
    const jump = (name, column) => make("button", { type: "button", onclick: () => moveTo(column) }, name);
    const notes = [`Each row of the map is ${bytes(map.cell)}; a row with any live block shows whose.`];
    notes.push(run.simulated ? "Addresses are those of the simulated device, which places each block at the lowest address where it fits." : "Addresses are virtual, as the driver gave them: a hole may or may not be backed by memory, and only the driver knows the largest free block.");
    if (map.regions.length > 1) notes.push(`${count.format(map.regions.length)} distant ranges of addresses are drawn on top of each other.`);
    if (map.undrawn) notes.push(`${many(map.undrawn, "allocation")} without an address of their own (CUDA arrays) are not drawn; what they take shows as holes.`);
    return make("section", { "aria-labelledby": "map-title" },
      make("div", { class: "head" }, make("div", {}, make("h2", { id: "map-title" }, "Address space"),
        make("p", { class: "soft small" }, "Where the blocks lay: time goes right, addresses go up. Hatched below are holes: free, but usable only by what fits into them. Many small holes are fragmentation."))),
      charts.map, charts.readout,
      make("div", { class: "when" }, make("label", { for: "moment", class: "small" }, "Moment"), charts.slider, jump("Peak", map.peak), jump("Most holes", map.worst), jump("End", map.columns.length - 1)),
      charts.strip,
      make("div", { class: "ends mono" }, make("span", {}, map.regions[0].start), make("span", {}, make("span", { class: "swatch hole", "aria-hidden": "true", style: { width: "10px", height: "10px" } }), " hole"), make("span", {}, addressAt(map.cells * map.cell))),
      charts.facts, make("p", { class: "soft small", style: { marginTop: "12px" } }, notes.join(" ")));
  }
  function sites() {
    charts.heads = make("tr");
    charts.rows = make("tbody", { id: "sites" });
    return make("section", { "aria-labelledby": "sites-title" },
      make("div", { class: "head" }, make("div", {}, make("h2", { id: "sites-title" }, "Allocation sites"), make("p", { class: "soft small" }, "Choose a line to see its source, its callers and its findings.")),
        make("input", { type: "search", placeholder: "Filter sites", "aria-label": "filter sites", value: state.filter, oninput: (event) => { state.filter = event.target.value; drawTable(); } })),
      make("div", { class: "scroll", tabindex: "0", role: "region", "aria-labelledby": "sites-title" }, make("table", {}, make("thead", {}, charts.heads), charts.rows)),
      run.rest.sites ? make("p", { class: "soft small", style: { marginTop: "26px" } }, `${many(run.rest.sites, "further site")} with less memory: ${many(run.rest.count, "allocation")}, ${bytes(run.rest.total)} in all, ${run.rest.left ? count.format(run.rest.left) : "none"} live at the end.`) : "");
  }
  function header() {
    const tools = [themes(draw)];
    if (data.runs.length > 1) tools.unshift(make("label", { class: "small" }, "Program ", make("select", { id: "run", onchange: (event) => start(Number(event.target.value)) },
      data.runs.map((one, number) => make("option", { value: number, selected: number === state.run }, `${one.title} (${one.spaces.length ? `peak ${bytes(one.spaces[0].peakBytes)}${lost(one) ? ", leaks" : ""}` : "no memory"})`)))));
    const about = run ? [run.device || (run.simulated ? "simulated device" : "GPU"), run.memory && !run.device.includes(bytes(run.memory)) ? bytes(run.memory) : "", run.ending].filter(Boolean).join(" · ") : "";
    return make("header", {}, make("div", {}, make("h1", {}, run ? [isolated(run.title), " "] : "", make("span", { class: "soft", style: { fontWeight: 400 } }, run ? "memory timeline" : "Memory timeline")),
      make("p", { class: "soft small" }, isolated(about))), make("div", { class: "tools" }, tools));
  }
  function failures() {
    if (!data.failed.length) return "";
    return make("section", {}, make("h2", {}, `${many(data.failed.length, "program")} could not be run`), make("ul", { class: "small" }, data.failed.map((one) => make("li", {}, isolated(one.title, { class: "mono" }), ": ", isolated(one.reason)))));
  }
  function empty(title, text) {
    return make("section", { class: "empty" }, make("h2", {}, title), make("p", {}, text));
  }
  function footer() {
    const notes = [`Made by cudalint ${data.version}. The page is complete in itself and asks no network for anything; it holds the lines of source shown in it.`];
    if (run && run.spaces.length) notes.push(`Drawn from ${many(run.events, "event")}: ${many(space.steps.length, "moment")} of ${many(run.steps + 1, "moment")} are drawn, the highest and lowest of each stretch among them; peaks, counts and sums are exact. Leaks that are close together share a mark.`);
    return make("footer", {}, notes.map((text) => make("p", {}, text)));
  }
  function draw() {
    for (const old of page.querySelectorAll(".js-plotly-plot")) Plotly.purge(old);
    charts = {};
    space = run ? run.spaces[state.space] : undefined;
    const parts = [header()];
    if (!run) parts.push(empty("No run to show", data.failed.length ? "No program could be run; the reasons are below." : "No program was run: nothing that was given has a main function or is a script."));
    else {
      if (!run.complete) parts.push(make("p", { class: "warning" }, "The program did not come to its end", run.ending ? [" (", isolated(run.ending), ")"] : "", ": what lived then is not called a leak."));
      if (!run.sites.length) parts.push(empty("This run allocated no GPU memory", "The program ran, and none of its calls allocated device, managed or page-locked memory, or a handle. If that is a surprise: did it fail before, or take another path without arguments?"));
      else {
        if (run.spaces.length) parts.push(...summary(), levels(), addresses());
        else parts.push(make("p", { class: "lead" }, "The run allocated no memory, only handles (streams, events, contexts, ...)."));
        parts.push(sites());
      }
    }
    parts.push(failures(), footer());
    page.replaceChildren(...parts.filter(Boolean));
    const drawn = [];
    if (charts.levels) drawn.push(drawLevels());
    if (charts.map) { drawn.push(drawMap()); drawStrip(); }
    if (charts.levels) connect();
    if (charts.rows) drawTable();
    Promise.all(drawn).then(() => { document.documentElement.dataset.ready = "yes"; });
  }
  function start(number) {
    state.run = number;
    run = data.runs[number];
    state.open.clear();
    state.all = false;
    state.space = 0;
    if (run) { state.column = run.map ? run.map.peak : 0; chooseColors(); }
    draw();
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => draw());
  // The run that has most to tell comes first.
  const worth = (one) => (one.spaces.length ? one.spaces[0].peakBytes : 0) + (lost(one) ? 2 ** 60 : 0);
  start(data.runs.reduce((best, one, number) => worth(one) > worth(data.runs[best]) ? number : best, 0));
})();
