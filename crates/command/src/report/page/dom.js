// Elements. Names of the program become text and nothing else.

/** Makes an element. @param {string} tag @param {Record<string, string|number|boolean|((event: any) => void)>} attributes @param {...(Node|string|null)} children @returns {any} */
export function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false) made.setAttribute(name, String(value));
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

/** A name of the program, apart from the text around it whichever way it is written. @param {string} text */
export function name(text) {
  return element("bdi", { class: "name" }, text);
}

/** A choice of one of several. @param {string} label @param {[string, string][]} options @param {string} chosen @param {(value: string) => void} choose */
export function choice(label, options, chosen, choose) {
  const list = element("select", { change: () => choose(list.value) });
  for (const [value, text] of options) {
    list.append(element("option", { value, selected: value === chosen }, text.length > 70 ? `${text.slice(0, 70)}…` : text));
  }
  return element("label", {}, `${label} `, list);
}

/** A field for a text to search. @param {string} label @param {string} value @param {(value: string) => void} search */
export function searchField(label, value, search) {
  const field = element("input", { type: "search", value, input: () => search(field.value), "aria-label": label, placeholder: label });
  return field;
}

/** A button. @param {string} text @param {() => void} press @param {boolean} [isPressed] */
export function button(text, press, isPressed) {
  const made = element("button", { type: "button", click: press }, text);
  if (isPressed !== undefined) made.setAttribute("aria-pressed", String(isPressed));
  return made;
}

/** A box at the pointer, with what is said of the place that it points to. @param {HTMLElement} canvas */
export function tooltip(canvas) {
  const box = element("div", { class: "tip", role: "tooltip", hidden: true });
  canvas.addEventListener("mouseleave", () => (box.hidden = true));
  /** @param {MouseEvent} event @param {string} text */
  const say = (event, text) => {
    box.textContent = text.slice(0, 600);
    box.hidden = text === "";
    // It stays inside of the window.
    box.style.left = `${Math.max(0, Math.min(event.clientX + 14, innerWidth - box.offsetWidth - 8))}px`;
    box.style.top = `${event.clientY + 18 + box.offsetHeight > innerHeight ? event.clientY - box.offsetHeight - 8 : event.clientY + 18}px`;
  };
  return { box, say };
}

/** A canvas as sharp as the screen is. @param {HTMLCanvasElement} canvas @param {number} height */
export function prepare(canvas, height) {
  const width = canvas.parentElement?.clientWidth || 800;
  const scale = devicePixelRatio || 1;
  canvas.style.height = `${height}px`;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  context.scale(scale, scale);
  context.clearRect(0, 0, width, height);
  context.font = "12px system-ui, sans-serif";
  context.textBaseline = "middle";
  return { context, width };
}

/** A colour of the style. @param {string} name */
export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** A text that fits. @param {CanvasRenderingContext2D} context @param {string} text @param {number} width */
export function fitted(context, text, width) {
  const most = Math.floor(width / 6);
  if (text.length <= most && context.measureText(text).width <= width) return text;
  let end = Math.min(text.length, most + 4);
  while (end > 0 && context.measureText(`${text.slice(0, end)}…`).width > width) end--;
  return end > 1 ? `${text.slice(0, end)}…` : "";
}
