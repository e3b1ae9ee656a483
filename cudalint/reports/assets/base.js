"use strict";
// What all pages share: words, and elements, whose text is only ever set as text.

const count = new Intl.NumberFormat("en");
const many = (n, one, more) => `${count.format(n)} ${n === 1 ? one : more || one + "s"}`;

function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") Object.assign(element.style, value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}
// What comes from the program keeps its direction to itself.
const isolated = (text, attributes) => make("bdi", attributes, text);
function choice(name, options, chosen, choose) {
  return make("span", { class: "choice", role: "group", "aria-label": name },
    options.map(([key, text]) => make("button", {
      type: "button", "aria-pressed": String(key === chosen), "data-key": key, onclick: () => choose(key),
    }, text)));
}
function themes(redraw) {
  const root = document.documentElement;
  return choice("colours", [["auto", "Auto"], ["light", "Light"], ["dark", "Dark"]], root.dataset.theme || "auto", (key) => {
    if (key === "auto") delete root.dataset.theme;
    else root.dataset.theme = key;
    redraw();
  });
}
