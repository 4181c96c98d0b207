/** Quiet hours of a channel, in the time zone of its readers. */
export interface QuietHours {
  /** Minutes after midnight. If `from` is later than `to`, the hours pass midnight. */
  readonly from: number
  readonly to: number
  /** IANA name, such as `Europe/Zurich`. */
  readonly zone: string
}

const minuteMs = 60_000
const dayMinutes = 1440

/** Returns the end of the quiet hours that contain the time, or the time itself outside of them. */
export function quietUntil({ from, to, zone }: QuietHours, ms: number): number {
  const minute = minuteOfDay(zone, ms)
  const isQuiet = from <= to ? minute >= from && minute < to : minute >= from || minute < to
  if (!isQuiet) return ms
  const rest = (to - minute + dayMinutes) % dayMinutes
  return Math.floor(ms / minuteMs) * minuteMs + rest * minuteMs
}

/** Whether the platform knows the time zone. */
export function isZone(zone: string): boolean {
  try {
    formatOf(zone)
    return true
  } catch {
    return false
  }
}

const formatOf = (zone: string): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat('en-GB', { timeZone: zone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })

function minuteOfDay(zone: string, ms: number): number {
  const [hours = 0, minutes = 0] = formatOf(zone).format(ms).split(':').map(Number)
  return hours * 60 + minutes
}
