// Times stand in UTC; the reader's own time is told where one points at them.
const local = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

export function localise(within) {
  for (const time of within.querySelectorAll("time[datetime*='T']")) {
    const moment = new Date(time.dateTime);
    if (!Number.isNaN(moment.getTime())) time.title = `${local.format(moment)}, your time`;
  }
}

localise(document);
