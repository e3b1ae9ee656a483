(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const page = document.getElementById("page");
  const PAGE = 100;
  const LEVELS = ["error", "warning", "info"];
  const CONFIDENCES = ["high", "medium", "low"];
  const VERDICTS = ["confirmed", "not-reached", "not-runnable", "refuted", "not run"];
  const ORDERS = {
    place: ["By place", () => 0],
    gravity: ["Gravest first", (a, b) => LEVELS.indexOf(a.severity) - LEVELS.indexOf(b.severity) || VERDICTS.indexOf(outcome(a)) - VERDICTS.indexOf(outcome(b)) || CONFIDENCES.indexOf(a.confidence) - CONFIDENCES.indexOf(b.confidence)],
    rule: ["By rule", (a, b) => a.code < b.code ? -1 : a.code > b.code ? 1 : 0],
  };
  const outcome = (finding) => finding.runtime ? finding.runtime.outcome : "not run";
  const state = {
    severity: new Set(LEVELS), confidence: new Set(CONFIDENCES), verdict: new Set(VERDICTS),
    rule: "", text: "", suppressed: false, order: "place", shown: PAGE, open: new Set(),
  };
  data.findings.forEach((finding, number) => {
    finding.number = number;
    finding.words = [finding.code, finding.name, finding.message, finding.place, finding.function || "", finding.fingerprint].join("\n").toLowerCase();
  });
  const unsuppressed = data.findings.filter((finding) => !finding.suppressed);
  const list = make("ol", { id: "findings" });
  const tally = make("p", { class: "tally", role: "status" });
  const more = make("div", { class: "more" });
  const search = make("input", {
    type: "search", placeholder: "Search messages, files, functions", "aria-label": "search findings",
    oninput: () => { state.text = search.value.toLowerCase(); refilter(); },
  });

  // Filters -------------------------------------------------------------------------------------

  function chosen() {
    const found = data.findings.filter((finding) =>
      state.severity.has(finding.severity) && state.confidence.has(finding.confidence) && state.verdict.has(outcome(finding))
      && (!state.rule || finding.code === state.rule) && (state.suppressed || !finding.suppressed) && finding.words.includes(state.text));
    return found.sort((a, b) => ORDERS[state.order][1](a, b) || a.number - b.number);
  }
  function counted(key, names, of) {
    const counts = new Map(names.map((name) => [name, 0]));
    for (const finding of unsuppressed) counts.set(of(finding), counts.get(of(finding)) + 1);
    const there = names.filter((name) => data.findings.some((finding) => of(finding) === name));
    if (there.length < 2) return "";
    return make("span", { class: "chips", role: "group", "aria-label": key }, there.map((name) => {
      const button = make("button", {
        type: "button", "aria-pressed": "true", "data-filter": name,
        onclick: () => {
          if (!state[key].delete(name)) state[key].add(name);
          button.setAttribute("aria-pressed", String(state[key].has(name)));
          refilter();
        },
      }, `${name} ${count.format(counts.get(name))}`);
      return button;
    }));
  }
  function filters() {
    const codes = new Map();
    for (const finding of unsuppressed) codes.set(finding.code, (codes.get(finding.code) || 0) + 1);
    const names = Object.keys(data.rules).sort();
    const hidden = data.findings.length - unsuppressed.length;
    return make("section", { class: "filters", "aria-label": "filters" }, search,
      make("select", { id: "rule", "aria-label": "rule", onchange: (event) => { state.rule = event.target.value; refilter(); } },
        make("option", { value: "" }, "All rules"),
        names.map((code) => make("option", { value: code }, `${code} ${data.rules[code].name} (${count.format(codes.get(code) || 0)})`))),
      make("select", { id: "order", "aria-label": "order", onchange: (event) => { state.order = event.target.value; refilter(); } },
        Object.entries(ORDERS).map(([key, [text]]) => make("option", { value: key }, text))),
      counted("severity", LEVELS, (finding) => finding.severity),
      counted("confidence", CONFIDENCES, (finding) => finding.confidence),
      counted("verdict", VERDICTS, outcome),
      hidden ? make("label", { class: "small" }, make("input", { type: "checkbox", id: "suppressed", onchange: (event) => { state.suppressed = event.target.checked; refilter(); } }), ` suppressed ones too (${count.format(hidden)})`) : "");
  }
  function refilter() {
    state.shown = PAGE;
    draw();
  }

  // Findings ------------------------------------------------------------------------------------

  // `code` in a message is code.
  const marked = (text) => text.split(/(`[^`]+`)/).map((piece, number) => number % 2 ? make("code", {}, isolated(piece.slice(1, -1))) : isolated(piece));

  function item(finding) {
    const open = state.open.has(finding);
    const id = `finding-${finding.number}`;
    const verdict = finding.runtime;
    const button = make("button", { type: "button", class: "finding", "aria-expanded": String(open), "aria-controls": id, onclick: () => toggle(finding, entry) },
      make("span", { class: `level ${finding.severity === "warning" ? "warning-level" : finding.severity}` }, finding.severity),
      make("span", { class: "message" }, ...marked(finding.message)),
      make("span", { class: "where small" }, isolated(finding.place, { class: "mono" }), make("span", {}, `${finding.code} ${finding.name}`),
        verdict ? make("span", { class: `tag ${{ confirmed: "leak", refuted: "good" }[verdict.outcome] || "plain"}` }, verdict.outcome) : "",
        finding.suppressed ? make("span", { class: "tag plain" }, "suppressed") : ""));
    const entry = make("li", {}, button, open ? details(finding, id) : "");
    return entry;
  }
  function toggle(finding, entry) {
    if (!state.open.delete(finding)) state.open.add(finding);
    const fresh = item(finding);
    entry.replaceWith(fresh);
    fresh.querySelector("button").focus();
    drawPaths(fresh);
  }
  function details(finding, id) {
    const rule = data.rules[finding.code];
    const facts = [`confidence ${finding.confidence}`, finding.judged ? `where people read the code: ${finding.judged}` : "", finding.function ? ["in ", isolated(finding.function, { class: "mono" })] : "",
      finding.fingerprint ? make("a", { href: `#${finding.fingerprint}` }, "link") : "", finding.suppressed ? ["suppressed by ", isolated(finding.suppressed, { class: "mono" })] : ""];
    const box = make("div", { class: "details", id },
      make("div", { class: "facts-line" }, facts.filter(Boolean).map((one) => make("span", {}, ...[one].flat()))));
    if (finding.runtime) box.append(evidence(finding.runtime));
    if (finding.excerpts.length) box.append(drawing(finding));
    if (finding.fix) box.append(make("p", { class: "small" }, "Fix: ", ...marked(finding.fix)));
    if (rule.page) box.append(make("details", { class: "rule" }, make("summary", {}, `${finding.code} ${finding.name}: what it means, and what to write instead`), ...markdown(rule.page)));
    if (rule.url) box.append(make("p", { class: "small" }, make("a", { href: rule.url }, rule.url)));
    return box;
  }
  function evidence(verdict) {
    const found = verdict.evidence.map((one) => make("p", {}, isolated(one.message), one.run === "without faults" ? "" : [" when ", isolated(one.run)].map((part) => part),
      ...one.stack.map((frame) => make("div", { class: "soft small mono" }, "at ", isolated(frame)))));
    return make("div", { class: `evidence ${verdict.outcome}` }, make("strong", {}, verdict.outcome), ` on ${verdict.device}`, verdict.reason ? [": ", isolated(verdict.reason)] : "", found);
  }

  // Source, with the path on it -----------------------------------------------------------------

  function drawing(finding) {
    const box = make("div", { class: "path mono", role: "group", "aria-label": "source with the path" });
    for (const [file, rows] of finding.excerpts) {
      const source = data.sources[file];
      if (finding.excerpts.length > 1) box.append(make("h3", {}, isolated(source.name)));
      let before = null, cell = 0;
      for (const row of rows) {
        const line = source.lines[row];
        if (line.cell !== cell && line.cell) box.append(make("div", { class: "gap small" }, `cell ${line.cell}`));
        else if (before !== null && row > before + 1) box.append(make("div", { class: "gap" }, "⋮"));
        before = row;
        cell = line.cell;
        const notes = finding.notes.filter((note) => note.file === file && note.row === row);
        box.append(make("div", { class: "row" }, make("span"), make("span", { class: "number" }, String(line.shown)), make("span", { class: "text" }, make("bdi", {}, ...painted(line, notes, row)))));
        for (const note of notes) if (note.text) {
          box.append(make("div", { class: "row" },
            make("span", { class: note.step ? "badge" : "badge aside", "data-step": note.step || null, "aria-label": note.step ? `step ${note.step}` : "for comparison" }, note.step ? String(note.step) : "·"),
            make("span"), make("span", { class: "note" }, ...marked(note.text))));
        }
      }
    }
    return box;
  }
  function painted(line, notes, row) {
    // Columns count code points.
    const text = Array.from(line.text);
    const spans = notes.map((note) => ({ from: note.column - 1 - line.first, to: (note.endRow > row ? Infinity : Math.max(note.endColumn, note.column + 1)) - 1 - line.first, primary: note.primary }));
    const cuts = new Set([0, text.length]);
    for (const span of spans) for (const at of [span.from, span.to]) if (at > 0 && at < text.length) cuts.add(at);
    const edges = [...cuts].sort((a, b) => a - b);
    return edges.slice(0, -1).map((from, number) => {
      const piece = text.slice(from, edges[number + 1]).join("");
      const inside = spans.filter((span) => span.from <= from && from < span.to);
      return inside.length ? make("mark", { class: inside.some((span) => span.primary) ? "primary" : null }, piece) : document.createTextNode(piece);
    });
  }

  const SVG = "http://www.w3.org/2000/svg";
  function shape(tag, attributes, ...children) {
    const element = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  }
  function drawPath(box) {
    box.querySelector("svg")?.remove();
    const badges = [...box.querySelectorAll("[data-step]")].sort((a, b) => a.dataset.step - b.dataset.step);
    if (badges.length < 2) return;
    const around = box.getBoundingClientRect();
    const points = badges.map((badge) => {
      const at = badge.getBoundingClientRect();
      return { x: at.left + at.width / 2 - around.left - box.clientLeft, y: at.top + at.height / 2 - around.top - box.clientTop, r: at.width / 2 };
    });
    const name = `arrow-${box.closest("li").querySelector(".details").id}`;
    const lines = points.slice(1).map((to, number) => {
      const from = points[number];
      const [low, high] = [Math.min(from.y, to.y), Math.max(from.y, to.y)];
      const free = to.y > from.y && !points.some((one) => one.y > low + 1 && one.y < high - 1);
      const d = free ? `M ${from.x} ${from.y + from.r} L ${to.x} ${to.y - to.r - 5}`
        : `M ${from.x - from.r} ${from.y} C ${from.x - 36} ${from.y}, ${to.x - 36} ${to.y}, ${to.x - to.r - 5} ${to.y}`;
      return shape("path", { d, "marker-end": `url(#${name})`, "data-from": number + 1 });
    });
    const head = shape("marker", { id: name, viewBox: "0 0 6 6", refX: 1, refY: 3, markerWidth: 4, markerHeight: 4, orient: "auto" }, shape("path", { d: "M 0 0 L 6 3 L 0 6 z" }));
    box.append(shape("svg", { "aria-hidden": "true" }, head, ...lines));
  }
  const watched = new ResizeObserver((entries) => { for (const one of entries) if (one.target.isConnected) drawPath(one.target); });
  function drawPaths(below) {
    for (const box of below.querySelectorAll(".path")) { drawPath(box); watched.observe(box); }
  }

  // The pages of the rules ----------------------------------------------------------------------

  function markdown(text) {
    const parts = [];
    for (const [number, block] of text.split(/^```.*$/m).entries()) {
      if (number % 2) { parts.push(make("pre", {}, block.trim())); continue; }
      for (const piece of block.split(/\n\s*\n/)) {
        const words = piece.trim();
        if (words.startsWith("#")) parts.push(make("h3", {}, words.replace(/^#+\s*/, "")));
        else if (/^[-|]/.test(words)) parts.push(make("pre", {}, words));
        else if (words) parts.push(make("p", {}, ...marked(words.replace(/\s*\n\s*/g, " "))));
      }
    }
    return parts;
  }

  // The page ------------------------------------------------------------------------------------

  function draw() {
    const found = chosen();
    const shown = found.slice(0, state.shown);
    watched.disconnect();
    list.replaceChildren(...shown.map(item));
    list.hidden = !shown.length;
    const all = (state.suppressed ? data.findings : unsuppressed).length;
    tally.textContent = found.length === all ? many(all, "finding") : found.length ? `${count.format(found.length)} of ${many(all, "finding")}` : "No finding matches.";
    const left = found.length - shown.length;
    more.replaceChildren(...(left > 0 ? [
      make("button", { type: "button", id: "more", onclick: () => { state.shown += PAGE; draw(); list.children[state.shown - PAGE].firstChild.focus(); } }, `Show ${count.format(Math.min(PAGE, left))} more`),
      make("button", { type: "button", id: "all", onclick: () => { state.shown = Infinity; draw(); } }, `Show all ${count.format(found.length)}`)] : []));
    drawPaths(list);
  }
  function header() {
    const bar = make("div", { class: "tools" });
    const redraw = () => bar.replaceChildren(themes(redraw));
    redraw();
    return make("header", {}, make("div", {}, make("h1", {}, isolated(data.title)), make("p", { class: "soft small" }, isolated(data.summary))), bar);
  }
  function errors() {
    if (!data.errors.length) return "";
    return make("section", { class: "warning" }, make("h2", {}, `${many(data.errors.length, "file")} could not be linted`),
      make("ul", { class: "small" }, data.errors.map((one) => make("li", {}, isolated(one.filename, { class: "mono" }), ": ", isolated(one.message)))));
  }
  function footer() {
    const keys = [["/", "search"], ["j", "next finding"], ["k", "the one before"], ["Enter", "open or close"], ["Esc", "leave the search"]];
    return make("footer", {}, make("p", { class: "keys" }, keys.flatMap(([key, text]) => [make("kbd", {}, key), ` ${text}  `])),
      make("p", {}, `Made by cudalint ${data.version}. The page is complete in itself and asks no network for anything; it holds the lines of source shown in it.`));
  }
  function move(by) {
    const buttons = [...list.querySelectorAll("button.finding")];
    const at = buttons.indexOf(document.activeElement.closest("li")?.querySelector("button.finding"));
    const next = buttons[at < 0 ? 0 : Math.min(Math.max(at + by, 0), buttons.length - 1)];
    next?.focus();
    next?.scrollIntoView({ block: "nearest" });
  }
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = event.target === search || event.target.tagName === "SELECT";
    if (event.key === "Escape" && event.target === search) { search.value = state.text = ""; refilter(); search.blur(); }
    else if (typing) return;
    else if (event.key === "/") { search.focus(); event.preventDefault(); }
    else if (event.key === "j" || event.key === "k") { move(event.key === "j" ? 1 : -1); event.preventDefault(); }
  });
  // On paper, all that is listed is open.
  let before = null;
  addEventListener("beforeprint", () => { before = new Set(state.open); for (const finding of chosen().slice(0, state.shown)) state.open.add(finding); draw(); });
  addEventListener("afterprint", () => { if (before) state.open = before; before = null; draw(); });
  function linked() {
    const finding = data.findings.find((one) => one.fingerprint && `#${one.fingerprint}` === location.hash);
    if (!finding) return;
    state.open.add(finding);
    if (finding.suppressed) state.suppressed = true;
    state.shown = Math.max(state.shown, Math.ceil((chosen().indexOf(finding) + 1) / PAGE) * PAGE);
    draw();
    document.getElementById(`finding-${finding.number}`)?.parentElement.scrollIntoView();
  }
  const nothing = make("section", { class: "empty" }, make("h2", {}, "No findings"), make("p", {}, data.summary));
  page.replaceChildren(...[header(), errors(), ...(data.findings.length ? [filters(), tally, list, more] : [nothing]), footer()].filter(Boolean));
  if (data.findings.length) {
    if (data.findings.length === 1) state.open.add(data.findings[0]);
    draw();
    linked();
    addEventListener("hashchange", linked);
  }
  document.documentElement.dataset.ready = "yes";
})();
