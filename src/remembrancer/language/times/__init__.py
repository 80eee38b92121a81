"""Times that words tell of, in English: what a question asks about, and whether a text tells one.

`spans` finds the times a text names and resolves them against the moment of asking; `anchored` finds those that count
from something which the text does not date ("two weeks before the trip"); `nearness` says how near memories lie to
spans; `asks_for_time` and `tells_time` tell questions and texts apart. All are pure: the moment is an argument. Other
languages than English yield nothing.

Words stand for what TIMEX3 gives them (TimeML, ISO 24617-1): the calendar's unit at the grain they name, weeks and
dates by ISO 8601. Where that leaves it open which one is meant, a memory is asked about the past. `now` is Wednesday 12
July 2023, 15:30, in the examples; ends are excluded, and where one is left out it is midnight.

Which one is meant, of all that come back (weekdays, weekends, months, dates without a year, seasons, holidays):

- alone: the latest that has begun, today's too ("on 7 August": 2022-08-07);
- last, past, previous: the latest that is over when today begins ("last Friday": 2023-07-07, "last summer": 2022's);
- this: that of this week (weekdays, weekends) or this year; a running one first ("this Friday": 2023-07-14);
- next, coming: the first that begins after today ("next March": March 2024);
- two Fridays ago: counted back, the last one first (2023-06-30);
- with its year, or last, this, next year: that one, past or not ("3 May last year": 2022-05-03);
- every, each: a repetition, no span.

Units of the calendar and counted ones:

- last, this, next week, month, quarter, year, decade: the calendar's ("last week": 07-03 to 07-10);
- the last week, the past month, last two weeks: so long back, and today ("past two weeks": 06-28 to 07-13);
- earlier this year: up to today; later this week: from tomorrow on;
- N units ago or from now: that day and half the unit in whole days either way ("two weeks ago": 06-25 to 07-02), as
  the number is rounded to the unit; of hours and minutes half a unit either way of the moment;
- a couple is 2 to 3, a few 2 to 5, several 3 to 7, none said 2 to 10 ("a few days ago": 07-07 to 07-11);
- half a year, a year and a half: so many of the next smaller unit, 6 and 18 months;
- the other day: a week back, not yesterday (07-05 to 07-11).

Parts and pieces:

- weekend: Saturday and Sunday; morning, afternoon, evening: 6, 12, 18 to 24 hours; night: 18 to 6 hours;
- seasons: three whole months from March, June, September, December (meteorological, northern hemisphere); "winter 2022"
  is both the one that year began with and the one that began in it;
- early, mid, late; beginning, middle, end of: thirds, which are 4 months of a year, 1 of a quarter or season, 10 days
  of a month, 2, 2 and 3 days of a week, 4, 3 and 3 years of a decade ("mid-June": 06-11 to 06-21);
- the first, second, last week of a month: 7 days from its beginning or end; the first weekend, second Friday: by the
  day it begins with; the week or weekend of a date: of the ISO week it is in.

Dates and stretches:

- 05/06/2023, 05-06-2023: both readings, if both are dates; 05.06.2023 is 5 June; of a year's last two digits by POSIX;
- a clock time is not read: the day is the resolution;
- between X and Y, from X to Y, X to Y: from the beginning of X to the end of Y; a year that one has serves both,
  else X is meant as alone and Y is the first from there;
- since X, from X on: from the beginning of X to the end of today;
- before X, after X: 30 days next to X, or as long as X is; just before, soon after: 7; by X, until X: as before, and X;
- two weeks before X, the day after X: as ago, from X's first day back or from its last on;
- Christmas is 24 to 26 December, New Year's 31 December and 1 January, Easter Good Friday to Easter Monday;
  Thanksgiving is that of the United States.

Of several readings those that have begun are meant, if any has. A day that no calendar has (31 February) names nothing,
nor does its month. "In two weeks" is mostly a length of time ("we did it in two weeks"): no span; "recently", "soon",
"the next day", "that week", holidays of lunar calendars: neither.

Ambiguous words: "may" is a month only with a capital; "May", "April", "June" and "Jan", which are names, only beside a
day, a year or such words as in, since, during, last, until; "march" likewise; other months beside any preposition;
short weekdays and months ("Sat", "Sep") with a capital and a preposition, or in a date; "spring", "fall" and the other
seasons beside a preposition or year. A number of four digits is a year after a preposition, else if it lies in the 30
years before `now` or the 5 after it. Upper case reads as capitals do.
"""
