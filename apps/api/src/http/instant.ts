const RFC_3339 = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/;

/**
 * An RFC 3339 instant, cut to milliseconds, or null. `Date.parse` alone would take `2027-02-30` for March, a day without
 * a zone for local time, and much that is no RFC 3339. A leap second has no `Date` and is refused.
 */
export function parseInstant(text: string): Date | null {
  const parts = RFC_3339.exec(text);
  if (parts === null) return null;
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const [fraction = '', sign = '+', zoneHours = '00', zoneMinutes = '00'] = parts.slice(7);
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return null;
  if (hour > 23 || minute > 59 || second > 59 || Number(zoneHours) > 23 || Number(zoneMinutes) > 59) return null;
  const milliseconds = fraction.padEnd(3, '0').slice(0, 3);
  return new Date(`${text.slice(0, 10)}T${text.slice(11, 19)}.${milliseconds}${sign}${zoneHours}:${zoneMinutes}`);
}

function daysIn(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}
