"""English time expressions: the times that a question asks about, and whether a text contains one.

`spans` finds the times a text names and resolves them against the moment of asking. `anchored` finds times that count
from an event without a date ("two weeks before the trip"). `asks_for_time` and `tells_time` judge questions and texts.
All are pure: the moment is an argument. Texts in other languages yield nothing.

Expressions mean what TIMEX3 gives them (TimeML, ISO 24617-1): the calendar unit at the granularity they name, weeks and
dates by ISO 8601. If that is ambiguous, the past is meant. In the examples `now` is Wednesday 12 July 2023, 15:30; ends
are excluded, and a missing time of day is midnight.

Which occurrence of a recurring time is meant (weekdays, weekends, months, dates without a year, seasons, holidays):

- alone: the latest that has begun, today's too ("on 7 August": 2022-08-07);
- last, past, previous: the latest that is over when today begins ("last Friday": 2023-07-07, "last summer": 2022's);
- this: that of this week (weekdays, weekends) or this year; a running one first ("this Friday": 2023-07-14);
- next, coming: the first that begins after today ("next March": March 2024);
- two Fridays ago: counted back, the last one first (2023-06-30);
- with its year, or last, this, next year: that one, past or not ("3 May last year": 2022-05-03);
- every, each: a repetition, not a span.

Units of the calendar and counted ones:

- last, this, next week, month, quarter, year, decade: the calendar's ("last week": 07-03 to 07-10);
- the last week, the past month, last two weeks: that length back, including today ("past two weeks": 06-28 to 07-13);
- earlier this year: up to today; later this week: from tomorrow on;
- N units ago or from now: that day and half a unit in whole days on either side ("two weeks ago": 06-25 to 07-02),
  because the number is rounded to the unit; for hours and minutes half a unit on either side of the moment;
- a couple is 2 to 3, a few 2 to 5, several 3 to 7, no number 2 to 10 ("a few days ago": 07-07 to 07-11);
- half a year, a year and a half: counted in the next smaller unit, 6 and 18 months;
- the other day: a week back, not yesterday (07-05 to 07-11).

Parts and pieces:

- weekend: Saturday and Sunday; morning, afternoon, evening: 6, 12, 18 to 24 hours; night: 18 to 6 hours;
- seasons: three whole months from March, June, September, December (meteorological, northern hemisphere); "winter 2022"
  is both the one that year began with and the one that began in it;
- early, mid, late; beginning, middle, end of: thirds, which are 4 months of a year, 1 of a quarter or season, 10 days
  of a month, 2, 2 and 3 days of a week, 4, 3 and 3 years of a decade ("mid-June": 06-11 to 06-21);
- the first, second, last week of a month: 7 days from its beginning or end; the first weekend, second Friday: by the
  day it begins on; the week or weekend of a date: of the ISO week it is in.

Dates and stretches:

- 05/06/2023, 05-06-2023: both readings, if both are dates; 05.06.2023 is 5 June; two-digit years by POSIX;
- a clock time is not read: the day is the resolution;
- between X and Y, from X to Y, X to Y: from the beginning of X to the end of Y; a year given for one applies to both,
  otherwise X is resolved by itself and Y is the first after it;
- since X, from X on: from the beginning of X to the end of today;
- before X, after X: 30 days next to X, or as long as X is; just before, soon after: 7; by X, until X: as before, and X;
- two weeks before X, the day after X: as ago, from X's first day back or from its last on;
- Christmas is 24 to 26 December, New Year's 31 December and 1 January, Easter Good Friday to Easter Monday;
  Thanksgiving is that of the United States.

Of several readings, those that have begun are meant, if any has. A day that does not exist (31 February) names nothing,
nor does its month. "In two weeks" is usually a duration ("we did it in two weeks"), not a span. "Recently", "soon",
"the next day", "that week" and holidays of lunar calendars are no spans either.

Ambiguous words: "may" is a month only with a capital; "May", "April", "June" and "Jan", which are names, only beside a
day, a year or such words as in, since, during, last, until; "march" likewise; other months beside any preposition;
short weekdays and months ("Sat", "Sep") with a capital and a preposition, or in a date; "spring", "fall" and the other
seasons beside a preposition or year. A number of four digits is a year after a preposition, else if it lies in the 30
years before `now` or the 5 after it. Upper case reads as capitals do.
"""
