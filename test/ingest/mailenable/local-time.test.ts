/** Conversion of local times in log files. */
import test from '#test'
import { momentOf, zoneOffset, type ZoneOffset } from '#ingest/mailenable/local-time.ts'

const zone = (name: string): ZoneOffset => {
  const offset = zoneOffset(name)
  if (!offset) throw new Error(name)
  return offset
}
const moment = (local: string, name: string): string => new Date(momentOf(Date.parse(`${local}Z`), zone(name))).toISOString()

test('momentOf(): converts summer time, winter time and distant zones', (t) => {
  t.is(moment('2026-08-21T12:15:00', 'Europe/Zurich'), '2026-08-21T10:15:00.000Z')
  t.is(moment('2026-01-21T12:15:00', 'Europe/Zurich'), '2026-01-21T11:15:00.000Z')
  t.is(moment('2026-08-21T00:00:00', 'Asia/Kathmandu'), '2026-08-20T18:15:00.000Z')
  t.is(moment('2026-01-01T00:00:00', 'Pacific/Kiritimati'), '2025-12-31T10:00:00.000Z')
  t.is(moment('2026-07-01T08:00:00', 'America/Los_Angeles'), '2026-07-01T15:00:00.000Z')
  t.is(moment('2026-08-21T12:15:00', 'UTC'), '2026-08-21T12:15:00.000Z')
})

test('momentOf(): a repeated hour means its first occurrence', (t) => {
  t.is(moment('2026-10-25T01:59:59', 'Europe/Zurich'), '2026-10-24T23:59:59.000Z')
  t.is(moment('2026-10-25T02:00:00', 'Europe/Zurich'), '2026-10-25T00:00:00.000Z')
  t.is(moment('2026-10-25T02:59:59', 'Europe/Zurich'), '2026-10-25T00:59:59.000Z')
  t.is(moment('2026-10-25T03:00:00', 'Europe/Zurich'), '2026-10-25T02:00:00.000Z')
  t.is(moment('2026-11-01T01:30:00', 'America/New_York'), '2026-11-01T05:30:00.000Z')
  t.is(moment('2026-04-05T01:45:00', 'Australia/Lord_Howe'), '2026-04-04T14:45:00.000Z')
})

test('momentOf(): a skipped hour moves forward by the clock change', (t) => {
  t.is(moment('2026-03-29T01:59:59', 'Europe/Zurich'), '2026-03-29T00:59:59.000Z')
  t.is(moment('2026-03-29T02:30:00', 'Europe/Zurich'), '2026-03-29T01:30:00.000Z')
  t.is(moment('2026-03-29T03:00:00', 'Europe/Zurich'), '2026-03-29T01:00:00.000Z')
})

test('zoneOffset(): returns undefined for an unknown name', (t) => {
  for (const name of ['Mars/Olympus', '', 'Europe/Zurich\0', 'x'.repeat(300)]) t.is(zoneOffset(name), undefined)
})

test('zoneOffset(): agrees with the time zone database, also for frequent changes', (t) => {
  for (const timeZone of [
    'Europe/Zurich',
    'Africa/Casablanca',
    'Africa/Cairo',
    'Australia/Lord_Howe',
    'Pacific/Apia',
    'America/Sao_Paulo',
  ]) {
    const offset = zone(timeZone)
    const format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' })
    const wrong: string[] = []
    for (let at = Date.UTC(2006, 0); at < Date.UTC(2036, 0); at += 9_000_000) {
      const [, sign = '', hours = '0', minutes = '0'] = /GMT([+-])?(\d\d)?:?(\d\d)?/.exec(format.format(at)) ?? []
      const expected = (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000
      if (offset(at) !== expected) wrong.push(`${new Date(at).toISOString()} ${String(offset(at))} ${String(expected)}`)
    }
    t.deepEqual(wrong, [], timeZone)
  }
})
