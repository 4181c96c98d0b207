/** Local times of a place as moments: IANA time zones and fixed offsets. */

/** Milliseconds that local time is ahead of UTC at a moment. */
export type ZoneOffset = (at: number) => number

const dayMs = 86_400_000
const fields = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit' } as const

/** The offsets of an IANA time zone; undefined for a name that is none. */
export function zoneOffset(timeZone: string): ZoneOffset | undefined {
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
 * The moment of a local time, given as if it were UTC. An hour that comes twice at the end of summer time means the first
 * occurrence; an hour that never was means as much later as the clock was put forward.
 */
export function momentOf(localMs: number, offset: ZoneOffset): number {
  const before = offset(localMs - dayMs)
  const moments = [before, offset(localMs + dayMs)].map((ahead) => localMs - ahead).filter((at) => localMs - at === offset(at))
  return moments.length === 0 ? localMs - before : Math.min(...moments)
}
