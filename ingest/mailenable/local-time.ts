/** Converts local times to UTC: IANA time zones and fixed offsets. */

/** Returns the milliseconds that local time is ahead of UTC at a time. */
export type ZoneOffset = (at: number) => number

const dayMs = 86_400_000
const fields = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit' } as const

/** No time zone changes its clocks twice within this span; the shortest known interval is the month of Ramadan. */
const spanMs = 10 * dayMs

/** The offsets of a span, before and after a possible clock change. */
interface Span {
  readonly first: number
  readonly changesAt: number
  readonly later: number
}

/**
 * The offset function of an IANA time zone; undefined if the name is unknown. Results are cached by span, because a look-up takes 5 µs and
 * a log needs several for each line.
 */
export function zoneOffset(timeZone: string): ZoneOffset | undefined {
  const lookUp = zoneLookup(timeZone)
  if (!lookUp) return undefined
  const spans = new Map<number, Span>()
  return (at) => {
    const number = Math.floor(at / spanMs)
    const span = spans.get(number) ?? spanFrom(number * spanMs, lookUp)
    spans.set(number, span)
    return at < span.changesAt ? span.first : span.later
  }
}

function spanFrom(start: number, lookUp: ZoneOffset): Span {
  const first = lookUp(start)
  const later = lookUp(start + spanMs)
  if (first === later) return { first, changesAt: start, later }
  let [before, changesAt] = [start, start + spanMs]
  while (changesAt - before > 1000) {
    const middle = before + Math.floor((changesAt - before) / 2000) * 1000
    if (lookUp(middle) === first) before = middle
    else changesAt = middle
  }
  return { first, changesAt, later }
}

function zoneLookup(timeZone: string): ZoneOffset | undefined {
  let format: Intl.DateTimeFormat
  try {
    format = new Intl.DateTimeFormat('en-US', { timeZone, hourCycle: 'h23', ...fields })
  } catch {
    return undefined
  }
  return (at) => {
    const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]))
    const part = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0
    const shown = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'))
    return shown - Math.floor(at / 1000) * 1000
  }
}

/**
 * Converts a local time, given as if it were UTC. An hour that occurs twice at the end of summer time means the first occurrence. A skipped
 * hour is moved forward by the clock change.
 */
export function momentOf(localMs: number, offset: ZoneOffset): number {
  const before = offset(localMs - dayMs)
  const moments = [before, offset(localMs + dayMs)].map((ahead) => localMs - ahead).filter((at) => localMs - at === offset(at))
  return moments.length === 0 ? localMs - before : Math.min(...moments)
}
