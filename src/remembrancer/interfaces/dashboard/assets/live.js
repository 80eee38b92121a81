// What is recorded from now on, put before what is shown. Texts become text, never elements.
import { localise } from "./times.js";

const MOST = 500; // entries kept on the page
const bar = document.getElementById("live");
const list = document.getElementById("entries");
const state = bar.querySelector("[data-live-state]");
const button = bar.querySelector("[data-live-pause]");
const said = document.querySelector("[data-live-said]");
let position = null; // of the last entry that came, to go on behind it
let source = null;
let paused = false;
let unsaid = 0;
let timer = 0;

function element(name, className, text) {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = harmless(text);
  return made;
}

// Control characters and what turns the direction of writing are left out, as the server does.
function harmless(text) {
  return String(text).replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/gu, (one) => ("\n\t\u200c\u200d".includes(one) ? one : ""));
}

function within(scope) {
  return ["project", "crew", "agent"].filter((part) => scope[part]).map((part) => ` · ${part} ${scope[part]}`).join("");
}

// The part of the workspace that the page shows, as every link of the page keeps it.
function conversation(event) {
  const query = new URLSearchParams(location.search);
  for (const name of [...query.keys()]) if (!["project", "crew", "agent", "session", "role"].includes(name)) query.delete(name);
  query.set("turn", event.id);
  const link = element("a", "", event.scope.session ?? "conversation");
  link.href = `/conversations/${event.id}?${query}#turn-${event.id}`;
  return link;
}

function entryOf(event) {
  const entry = element("li", "entry is-new");
  if (["warn", "error", "critical"].includes(event.severity)) entry.classList.add(`is-${event.severity}`);
  entry.dataset.id = event.id;
  const meta = element("p", "meta");
  meta.append(element("b", "", event.actor ?? event.role), " ", element("span", "badge is-quiet", event.type), " ");
  if (event.severity !== "info") meta.append(element("span", "badge", event.severity), " ");
  if (event.priority !== "normal") meta.append(element("span", "badge", event.priority), " ");
  const time = element("time", "", "just now");
  time.dateTime = event.occurred_at;
  meta.append(time, `${harmless(within(event.scope))} · `, conversation(event));
  entry.append(meta, element("div", "text", event.text));
  return entry;
}

function announce() {
  unsaid += 1;
  clearTimeout(timer); // several at once are told as one
  timer = setTimeout(() => {
    said.textContent = unsaid === 1 ? "1 new entry" : `${unsaid} new entries`;
    unsaid = 0;
  }, 800);
}

function take(message) {
  if (message.lastEventId) position = message.lastEventId;
  if (!message.data) return;
  const { event } = JSON.parse(message.data);
  if (list.querySelector(`[data-id="${CSS.escape(event.id)}"]`)) return;
  list.hidden = false;
  document.getElementById("no-entries")?.remove();
  const entry = entryOf(event);
  list.prepend(entry);
  localise(entry);
  while (list.children.length > MOST) list.lastElementChild.remove();
  announce();
}

function address() {
  const wanted = new URL(bar.dataset.stream, location.href);
  if (position !== null) wanted.searchParams.set("after", position);
  return wanted;
}

function tell(words) {
  state.textContent = words;
  button.textContent = paused ? "Resume" : "Pause";
  bar.toggleAttribute("data-paused", source === null);
}

function stop(words) {
  source?.close();
  source = null;
  tell(words);
}

function start() {
  if (source !== null || paused || document.hidden) return;
  source = new EventSource(address());
  source.addEventListener("open", () => tell("Live"));
  source.addEventListener("entry", take);
  source.addEventListener("message", take);
  source.addEventListener("error", () => {
    // The browser tries again by itself, unless it was refused for good.
    if (source?.readyState === EventSource.CLOSED) stop("Not live: the stream has ended. Reload the page.");
    else tell("Connecting again…");
  });
}

button.addEventListener("click", () => {
  paused = !paused;
  if (paused) stop("Paused");
  else start();
});
document.addEventListener("visibilitychange", () => {
  if (document.hidden) stop("Paused while the page is hidden");
  else start();
});
addEventListener("pagehide", () => stop("Paused"));
addEventListener("pageshow", start);
bar.hidden = false;
start();
