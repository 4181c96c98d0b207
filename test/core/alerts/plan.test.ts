/** What a channel is told and when: the rules one by one, and their properties over random histories. */
import test from '#test'
import { dueAfterChange, plan, type PlanInput, type PlannedChannel } from '#core/alerts/plan.ts'
import { quietUntil } from '#core/alerts/quiet-hours.ts'
import type { Finding } from '#core/findings/finding.ts'
import type { FindingKind, Severity } from '#core/findings/kinds.ts'
import { factsOf } from '#core/findings/kinds.ts'
import { Seeded, seedOf } from '../../support/seeded.ts'
import { column } from '../../support/column.ts'

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const start = Date.UTC(2030, 0, 15, 12)

const channel: PlannedChannel = {
  ...{ id: 'alc_1', projectId: '', minSeverity: 'warning', groups: [], afterMinutes: 0, quietHours: null },
}

function finding(kind: FindingKind, at: number, changes: Partial<Finding> = {}): Finding {
  const { severity } = factsOf(kind)
  return {
    ...{ id: `fnd_${kind}`, kind, subject: 's', projectId: 'prj_1', severity, params: {}, check: 'c', state: 'open' },
    ...{ openedAt: at, changedAt: at, overAt: null, acknowledged: null, mutedUntil: null, notified: {}, ...changes },
  }
}

const over = (one: Finding, at: number): Finding => ({ ...one, state: 'over', overAt: at, changedAt: at })
const notified = (one: Finding, at: number, severity: Severity = one.severity): Finding => ({
  ...one,
  notified: { alc_1: { at, severity } },
})
const input = (findings: readonly Finding[], more: Partial<PlanInput> = {}): PlanInput => ({
  ...{ findings, channel, sentAt: [], replaces: false, ...more },
})
const kinds = (list: readonly Finding[] | undefined): string[] => column(list ?? [], 'kind')

test('an error is told after 40 s, a warning after 5 min, a notice never', (t) => {
  const wait = (kind: FindingKind): number | null => plan(input([finding(kind, start)]), start).nextMs
  t.is(wait('destination.login_refused'), start + 40 * second)
  t.is(wait('domain.spf'), start + 5 * minute)
  t.is(wait('backup.none'), null)
  t.deepEqual(kinds(plan(input([finding('destination.login_refused', start)]), start + 40 * second).message?.open), [
    'destination.login_refused',
  ])
})

test('one message has all findings that were not told, errors first, ten at most', (t) => {
  const many = Array.from({ length: 12 }, (_, i) => finding('domain.spf', start + i, { id: `fnd_${i}`, subject: `d${i}` }))
  const { message, notified: marks } = plan(input([...many, finding('destination.login_refused', start)]), start + 40 * second)
  t.is(message?.open[0]?.kind, 'destination.login_refused')
  t.deepEqual([message?.open.length, message?.more], [10, 3])
  t.is(marks.size, 13, 'counted findings are told too')
})

test('a told error is repeated after a day, a told warning is not, and muting stops both', (t) => {
  const error = notified(finding('destination.login_refused', start), start)
  t.is(plan(input([error]), start).nextMs, start + 24 * hour)
  t.is(plan(input([notified(finding('domain.spf', start), start)]), start).nextMs, null)
  t.is(plan(input([{ ...error, mutedUntil: start + 48 * hour }]), start + 24 * hour).nextMs, start + 48 * hour)
  const worse = { ...notified(finding('mail.complained', start), start), severity: 'error', changedAt: start + hour } as const
  t.is(plan(input([worse]), start + hour).nextMs, start + hour + 40 * second, 'a more severe finding is told again')
})

test('the end is told once, 10 min later, to channels that were told of the beginning', (t) => {
  const ended = over(notified(finding('destination.login_refused', start), start), start + hour)
  t.is(plan(input([ended]), start + hour).nextMs, start + hour + 10 * minute)
  const first = plan(input([ended]), start + hour + 10 * minute)
  t.deepEqual(kinds(first.message?.over), ['destination.login_refused'])
  const again = { ...ended, notified: { alc_1: first.notified.get(ended.id)! } }
  t.deepEqual(plan(input([again]), start + 3 * hour), { message: undefined, notified: new Map(), nextMs: null })
  t.is(plan(input([over(finding('destination.login_refused', start), start + 20 * second)]), start + hour).message, undefined)
})

test('a finding that returns after the message of its end is told as usual, and its next end an hour later', (t) => {
  const mark = { at: start, severity: 'error', overAt: start + 20 * minute } as const
  const back = { ...finding('destination.login_refused', start), changedAt: start + 25 * minute, notified: { alc_1: mark } }
  t.is(plan(input([back]), start + 25 * minute).nextMs, start + 25 * minute + 40 * second)
  const told = plan(input([back]), start + 26 * minute)
  t.deepEqual(kinds(told.message?.open), ['destination.login_refused'])
  const ended = over({ ...back, notified: { alc_1: told.notified.get(back.id)! } }, start + 30 * minute)
  t.is(plan(input([ended]), start + 30 * minute).nextMs, start + 90 * minute, 'another return within the hour needs no message')
  const repeated = plan(input([{ ...ended, state: 'open', overAt: null }]), start + 25 * hour).notified.get(back.id)
  t.deepEqual(repeated, { at: start + 25 * hour, severity: 'error', returned: true })
})

test('the end of a replaced finding is reported with the end of its replacement', (t) => {
  const nearly = over(notified(finding('quota.nearly_used', start), start), start + hour)
  const used = finding('quota.used', start + hour)
  t.deepEqual(kinds(plan(input([nearly, used]), start + 2 * hour).message?.over), [])
  const told = notified(used, start + hour)
  t.is(plan(input([nearly, told]), start + 2 * hour).nextMs, start + 25 * hour, 'only the repetition of the error')
  const ended = over(told, start + 5 * hour)
  t.deepEqual(kinds(plan(input([nearly, ended]), start + 6 * hour).message?.over), ['quota.used', 'quota.nearly_used'])
  const short = over(used, start + hour + 20 * second)
  t.is(dueAfterChange(short, channel, false, start + hour + 20 * second), start + hour + 10 * minute + 20 * second)
  t.deepEqual(
    kinds(plan(input([nearly, short]), start + 2 * hour).message?.over),
    ['quota.nearly_used'],
    'without a message about the replacement',
  )
  const other = finding('quota.used', start + hour, { subject: 'another limit' })
  t.deepEqual(kinds(plan(input([nearly, other]), start + 2 * hour).message?.over), ['quota.nearly_used'])
  const reputation = { ...channel, groups: ['reputation' as const] }
  const bounced = over(notified(finding('mail.bounced', start), start), start + hour)
  const failed = finding('mail.failed', start + hour)
  t.deepEqual(kinds(plan(input([bounced, failed]), start + 2 * hour).message?.over), [])
  t.deepEqual(kinds(plan(input([bounced, failed], { channel: reputation }), start + 2 * hour).message?.over), ['mail.bounced'])
})

test('messages are a minute apart and 12 an hour', (t) => {
  const one = finding('destination.login_refused', start - hour)
  t.is(plan(input([one], { sentAt: [start - 20 * second] }), start).nextMs, start + 40 * second)
  const twelve = Array.from({ length: 12 }, (_, i) => start - 30 * minute + i * minute)
  t.is(plan(input([one], { sentAt: twelve }), start).nextMs, start + 30 * minute)
})

test('quiet hours delay warnings and ends, not errors', (t) => {
  const quiet = { ...channel, quietHours: { from: 12 * 60, to: 14 * 60, zone: 'Europe/Zurich' } } // 11 to 13 UTC
  const at = start + 10 * minute
  const both = [finding('domain.spf', start), finding('destination.login_refused', start)]
  t.deepEqual(kinds(plan(input(both, { channel: quiet }), at).message?.open), ['destination.login_refused'])
  t.is(plan(input([finding('domain.spf', start)], { channel: quiet }), at).nextMs, start + hour)
  const night = { from: 22 * 60, to: 6 * 60, zone: 'UTC' }
  t.is(quietUntil(night, Date.UTC(2030, 0, 15, 23)), Date.UTC(2030, 0, 16, 6))
  t.is(quietUntil(night, Date.UTC(2030, 0, 15, 12)), Date.UTC(2030, 0, 15, 12))
})

test('consequences of an error of a destination are left out while it is open', (t) => {
  const cause = finding('destination.login_refused', start)
  const all = [
    cause,
    finding('queue.late', start),
    finding('mail.all_failing', start),
    finding('queue.late', start, { id: 'fnd_o', projectId: 'prj_2' }),
  ]
  t.deepEqual(kinds(plan(input(all), start + hour).message?.open), ['destination.login_refused', 'queue.late'])
  const ended = [over(cause, start + hour), finding('queue.late', start)]
  t.is(plan(input(ended), start + hour).nextMs, start + 2 * hour + 5 * minute, 'its figures show the cause for an hour')
  const deferred = [over(cause, start + hour), finding('mail.deferred', start)]
  t.is(plan(input(deferred), start + hour).nextMs, start + hour + 85 * minute + 5 * minute)
  const after = [over(cause, start + hour), finding('queue.late', start + 2 * hour)]
  t.is(plan(input(after), start + 2 * hour).nextMs, start + 2 * hour + 5 * minute, 'it began after the end')
})

test('of several errors of one destination, the most precise cause is told', (t) => {
  const of = (kind: FindingKind, subject = 'dst_1', at = start) => finding(kind, at, { id: `fnd_${kind}_${subject}`, subject })
  const all = [of('destination.failing'), of('destination.resting'), of('destination.login_refused'), of('destination.resting', 'dst_2')]
  const { message, notified: marks } = plan(input(all), start + hour)
  t.deepEqual(
    message?.open.map(({ kind, subject }) => `${kind} ${subject}`),
    ['destination.login_refused dst_1', 'destination.resting dst_2'],
  )
  t.is(marks.size, 2)
  const [failing, resting, refused] = all as [Finding, Finding, Finding, Finding]
  const told = notified(failing, start)
  t.deepEqual(kinds(plan(input([told, resting]), start + hour).message?.open), [], 'one of them was told')
  t.deepEqual(kinds(plan(input([told, refused]), start + hour).message?.open), ['destination.login_refused'], 'a precise cause is told too')
  t.is(
    plan(input([over(notified(refused, start), start + hour), failing]), start + 3 * hour).message?.open.length,
    1,
    'it outlives the cause',
  )
  const ofProject = of('destination.failing', 'dst_1/prj_1')
  t.deepEqual(kinds(plan(input([refused, ofProject]), start + hour).message?.open), ['destination.login_refused'])
})

test('a channel of one project is told of destinations that the organization shares', (t) => {
  const shared = finding('destination.login_refused', start, { subject: 'dst_1', projectId: '' })
  const all = [
    ...[shared, finding('mail.all_failing', start), finding('domain.spf', start, { projectId: '' })],
    finding('destination.failing', start, { subject: 'dst_1/prj_1' }),
    finding('destination.resting', start, { subject: 'dst_2', projectId: 'prj_2' }),
  ]
  const bound = { ...channel, projectId: 'prj_1' }
  t.deepEqual(kinds(plan(input(all, { channel: bound }), start + hour).message?.open), ['destination.login_refused'])
  t.is(dueAfterChange(shared, bound, false, start), start + 40 * second)
  const kindsOfAll = ['destination.login_refused', 'destination.resting', 'domain.spf']
  t.deepEqual(kinds(plan(input(all), start + hour).message?.open), kindsOfAll, 'the shared cause explains the failures of the project')
  const ofMany = [
    { ...shared, organizationId: 'org_1' },
    { ...finding('mail.all_failing', start), organizationId: 'org_2' },
  ]
  t.is(plan(input(ofMany), start + hour).message?.open.length, 2, 'of another organization')
})

test('a channel that is not told of the cause is told of its consequence', (t) => {
  const all = [finding('destination.login_refused', start), finding('form.notification_failing', start)]
  const told = (changes: Partial<PlannedChannel>): string[] =>
    kinds(plan(input(all, { channel: { ...channel, ...changes } }), start + hour).message?.open)
  t.deepEqual(told({ groups: ['forms'] }), ['form.notification_failing'])
  t.deepEqual(told({ groups: ['forms', 'delivery'] }), ['destination.login_refused'])
  const byWebhook = finding('form.notification_failing', start, { subject: 'frm_1/webhook', params: { by: 'webhook' } })
  t.is(plan(input([...all, byWebhook]), start + hour).message?.open.length, 2, 'a webhook of a form fails by itself')
})

test('a destination that fails in part is told after 3 min, and at once if all mail fails', (t) => {
  const failing = finding('destination.failing', start, { subject: 'dst_1' })
  t.is(plan(input([failing]), start).nextMs, start + 3 * minute)
  t.is(plan(input([failing, finding('mail.all_failing', start)]), start).nextMs, start + 40 * second)
})

test('a paused destination is told after 5 min, or as early as the findings that it explains', (t) => {
  const resting = finding('destination.resting', start, { subject: 'dst_1' })
  t.is(plan(input([resting]), start).nextMs, start + 5 * minute)
  t.is(dueAfterChange(resting, channel, false, start), start + 5 * minute)
  const failing = finding('destination.failing', start - minute, { subject: 'dst_1' })
  t.is(plan(input([resting, failing]), start).nextMs, start + 2 * minute, 'most attempts fail for 3 min')
  t.is(plan(input([resting, finding('mail.all_failing', start)]), start).nextMs, start + 40 * second, 'no mail is accepted')
  const { message } = plan(input([resting, failing, finding('mail.all_failing', start)]), start + 40 * second)
  t.deepEqual(kinds(message?.open), ['destination.resting'])
  const other = finding('mail.all_failing', start, { projectId: 'prj_2' })
  t.is(plan(input([resting, notified(other, start)]), start).nextMs, start + 5 * minute, 'of another project')
  const unrelated = finding('webhook.failing', start)
  t.deepEqual(kinds(plan(input([resting, unrelated]), start + 40 * second).message?.open), ['webhook.failing'], 'a message of others')
  t.is(plan(input([over(resting, start + 2 * minute)]), start + hour).message, undefined, 'a short pause')
})

test('an escalation gets errors that nobody acknowledged, or at once while another channel fails', (t) => {
  const later = { ...channel, afterMinutes: 60 }
  const error = finding('destination.login_refused', start)
  const all = [error, finding('domain.spf', start)]
  t.is(plan(input(all, { channel: later }), start + 59 * minute).nextMs, start + hour)
  t.deepEqual(kinds(plan(input(all, { channel: later }), start + hour).message?.open), ['destination.login_refused'])
  const seen = { ...error, acknowledged: { by: 'usr_1', at: start } }
  t.is(plan(input([seen], { channel: later }), start + 2 * hour).message, undefined)
  t.is(plan(input(all, { channel: later, replaces: true }), start + 5 * minute).message?.open.length, 2)
})

test('scope: project, severity and groups of the channel', (t) => {
  const all = [
    finding('destination.login_refused', start),
    finding('domain.spf', start, { projectId: 'prj_2' }),
    finding('webhook.parked', start),
  ]
  const seen = (changes: Partial<PlannedChannel>): string[] =>
    kinds(plan(input(all, { channel: { ...channel, ...changes } }), start + hour).message?.open)
  t.deepEqual(seen({ projectId: 'prj_2' }), ['domain.spf'])
  t.deepEqual(seen({ minSeverity: 'error' }), ['destination.login_refused', 'webhook.parked'])
  t.deepEqual(seen({ groups: ['webhooks'] }), ['webhook.parked'])
  const own = finding('alerts.undeliverable', start, { subject: 'alc_1' })
  t.is(plan(input([own]), start + hour).message, undefined, 'a channel is not told that it fails')
})

const seed = seedOf(20_300_115)
const someKinds = [
  'destination.resting',
  'destination.login_refused',
  'domain.spf',
  'queue.late',
  'mail.complained',
  'webhook.failing',
] as const

/** Runs a random history against one channel and returns the messages. */
function history(seeded: Seeded, mixed: Seeded) {
  let findings: Finding[] = []
  const sentAt: number[] = []
  const messages: { at: number; open: string[]; over: string[]; more: number }[] = []
  for (let now = start; now < start + 30 * hour; now += 10 * second) {
    if (seeded.chance(0.01)) {
      const kind = seeded.pick(someKinds)
      const known = findings.find((one) => one.kind === kind)
      if (!known) findings.push(finding(kind, now))
      else {
        const isNew = known.state === 'over' && now - (known.overAt ?? 0) >= hour
        const back = { ...known, state: 'open', overAt: null, changedAt: now } as const
        const next = known.state === 'open' ? over(known, now) : isNew ? finding(kind, now, { id: `${known.id}+` }) : back
        findings = findings.map((one) => (one === known ? next : one))
      }
    }
    const result = plan(input(mixed.shuffle(findings), { sentAt }), now)
    if (result.message) {
      sentAt.push(now)
      const { open, over: ended, more } = result.message
      messages.push({ at: now, open: column(open, 'id'), over: column(ended, 'id'), more })
      findings = findings.map((one) => {
        const mark = result.notified.get(one.id)
        return mark ? { ...one, notified: { alc_1: mark } } : one
      })
    }
  }
  return messages
}

test(`random histories: told once, "over" only after "open", 12 an hour, in any order (seed ${seed})`, (t) => {
  for (let round = 0; round < 20; round++) {
    const messages = history(new Seeded(`${seed}/${round}`), new Seeded(`${seed}/${round}/a`))
    t.deepEqual(
      messages,
      history(new Seeded(`${seed}/${round}`), new Seeded(`${seed}/${round}/b`)),
      'the order of the findings is irrelevant',
    )
    const openSince = new Map<string, number>()
    for (const [i, { at, open, over: ended }] of messages.entries()) {
      for (const id of open) {
        const since = openSince.get(id)
        if (since !== undefined) t.true(at - since >= 24 * hour, `${id} was told twice`)
        openSince.set(id, at)
      }
      for (const id of ended) t.true(openSince.delete(id), `the end of ${id} was told without its beginning`)
      const before = messages[i - 1]
      if (before) t.true(at - before.at >= minute)
      t.true(messages.filter((one) => one.at > at - hour && one.at <= at).length <= 12)
    }
    t.true(messages.length > 0)
  }
})
