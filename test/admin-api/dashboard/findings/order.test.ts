/** Rules of the overview as tables: the sentence, the order of findings, their consequences, and the button of each kind. */
import test from '#test'
import type { Observed } from '#core/findings/finding.ts'
import { factsOf, type FindingKind } from '#core/findings/kinds.ts'
import { sorted, type Condition } from '#core/watch/condition.ts'
import { mailConditions } from '#core/watch/conditions/mail.ts'
import { queueConditions } from '#core/watch/conditions/queue.ts'
import { recipientNames } from '#core/insights/count.ts'
import { byDestination, destinationOf, inOrder, markOf } from '../../../../admin-api/dashboard/client/findings/finding-order.ts'
import { countOf } from '../../../../admin-api/dashboard/client/findings/finding-count.ts'
import { errorsByPath, placeOf } from '../../../../admin-api/dashboard/client/findings/finding-place.ts'
import { ratesOf } from '../../../../admin-api/dashboard/client/insights/rates.ts'
import { effectOf, sentenceOf, type Situation } from '../../../../admin-api/dashboard/client/overview/sentence.ts'
import type { Finding } from '../../../../admin-api/dashboard/client/wire/api.d.ts'
import { checkedFindings } from '../../../core/findings/checked.ts'
import { column } from '../../../support/column.ts'
import { isScreen } from '../walks/screen-list.ts'

const at = '2030-01-15T10:00:00.000Z'

function found(kind: FindingKind, subject = 'prj_1', more: Partial<Finding> = {}): Finding {
  const { severity, group } = factsOf(kind)
  return {
    ...{ id: `${kind} ${subject}`, kind, subject, project_id: 'prj_1', severity, group, state: 'open', title: kind, summary: '', fix: '' },
    ...{ params: {}, opened_at: at, over_at: null, acknowledged: null, muted_until: null, ...more },
  }
}

const error = { severity: 'error' } as const

const kindsOf = (...findings: readonly Finding[]): readonly string[] => column(inOrder(findings), 'kind')

test('order: errors by urgency, then warnings, then notices; more messages first, then longer', (t) => {
  t.deepEqual(
    kindsOf(
      ...[found('credential.expiring'), found('domain.unknown'), found('mail.refused'), found('source.silent', 'src_1')],
      ...[
        found('mail.bounced'),
        found('domain.dkim', 'a.example'),
        found('webhook.failing', 'whk_1'),
        found('route.missing', 'prj_1', error),
      ],
      ...[found('destination.failing', 'dst_1'), found('quota.used', 'sends_today')],
    ),
    [
      ...['quota.used', 'destination.failing', 'route.missing', 'webhook.failing', 'domain.dkim'],
      ...['mail.bounced', 'mail.refused', 'source.silent', 'credential.expiring', 'domain.unknown'],
    ],
  )
  t.is(kindsOf(found('mail.refused'), found('mail.bounced', 'prj_1', { severity: 'error' }))[0], 'mail.bounced')
  const parked = (subject: string, count: number, opened_at = at) => found('webhook.parked', subject, { params: { count }, opened_at })
  const sorted = inOrder([parked('few', 1), parked('many', 9), parked('long', 1, '2030-01-15T09:00:00.000Z')])
  t.deepEqual(column(sorted, 'subject'), ['many', 'long', 'few'])
  const bounced = (subject: string, some: number) => found('mail.bounced', subject, { params: { some } })
  t.deepEqual(column(inOrder([bounced('few', 3), bounced('many', 30)]), 'subject'), ['many', 'few'])
  const paused = (subject: string, waiting: number) => found('destination.resting', subject, { params: { waiting } })
  t.deepEqual(column(inOrder([paused('few', 3), paused('many', 30)]), 'subject'), ['many', 'few'])
  const deaf = (subject: string, undelivered: number) => found('webhook.failing', subject, { params: { undelivered, count: 9 } })
  t.deepEqual(column(inOrder([deaf('few', 3), deaf('many', 30)]), 'subject'), ['many', 'few'])
})

test('consequences: one cause is one row', (t) => {
  const resting = found('destination.resting', 'dst_1')
  const failing = found('destination.failing', 'dst_1/prj_1', { params: { destinationId: 'dst_1' } })
  t.is(destinationOf(failing), 'dst_1')
  t.deepEqual(kindsOf(failing, resting), ['destination.resting'])
  t.deepEqual(kindsOf(resting, found('destination.login_refused', 'dst_1')), ['destination.login_refused'])
  t.deepEqual(kindsOf(resting, found('destination.failing', 'dst_2')), ['destination.resting', 'destination.failing'])
  for (const kind of ['mail.all_failing', 'mail.deferred', 'queue.late', 'form.notification_failing'] as const) {
    t.true(factsOf(kind).isConsequence)
    t.deepEqual(kindsOf(resting, found(kind)), ['destination.resting'])
    t.deepEqual(kindsOf(found(kind)), [kind])
    t.is(kindsOf(resting, found(kind, 'prj_2', { project_id: 'prj_2' })).length, 2, 'of another project')
    t.is(kindsOf({ ...resting, project_id: null }, found(kind)).length, 1, 'a destination of all projects')
  }
  t.deepEqual(kindsOf(found('webhook.parked', 'whk_1'), found('webhook.failing', 'whk_1')), ['webhook.failing'])
  t.is(kindsOf(found('webhook.parked', 'whk_1'), found('webhook.failing', 'whk_2')).length, 2)
  t.is(kindsOf(found('queue.late'), found('queue.held')).length, 2, 'held mail is never late')
})

/** A finding of a check, as the dashboard reads it. */
const read = ({ kind, subject, projectId, severity = factsOf(kind).severity, params }: Observed): Finding =>
  found(kind, subject, { severity, params, project_id: projectId === '' ? null : projectId })

/** Prefixes of the ids that screens show, by the part of the path before the id. */
const shownIds: Readonly<Record<string, string>> = {
  ...{ destinations: 'dst_', webhooks: 'whk_', routes: 'inr_', forms: 'frm_', sources: 'src_' },
}

test('buttons: each kind that members see leads to a screen, in the project of the finding', (t) => {
  const without = checkedFindings.filter((finding) => {
    const place = placeOf(read(finding))
    if (!place) return true
    const [, screen = '', id = ''] = place.path.replace(/^\/(?:settings|incoming)(?=\/)/, '').split('/')
    t.true(isScreen(place.path), `${finding.kind}: ${place.path}`)
    t.true(id.startsWith(shownIds[screen] ?? id), `${finding.kind}: ${place.path}`)
    t.is(place.query['project'] ?? '', finding.projectId)
    return false
  })
  t.deepEqual(column(without, 'kind'), ['alerts.undeliverable'])
  const paths = (kind: FindingKind) => checkedFindings.filter((one) => one.kind === kind).map((one) => placeOf(read(one))?.path)
  t.deepEqual(paths('form.notification_failing'), ['/forms/frm_1/notifications', '/forms/frm_1/notifications'], 'by webhook and by mail')
  t.deepEqual(paths('webhook.parked'), ['/settings/webhooks/whk_1', '/incoming/routes/inr_1', '/forms/frm_1/notifications'])
  t.is(placeOf(found('credential.expiring', 'smtp_1', { params: { what: 'login' } }))?.path, '/settings/smtp-logins')
  t.like(placeOf(found('domain.unknown', 'rigi.example')), { path: '/domains', query: { new: '1', domain: 'rigi.example' } })
  const refused = (code: string) => placeOf(found('mail.refused', 'prj_1', { params: { code, hours: 1 } }))?.path
  t.deepEqual([refused('validation_failed'), refused('no_route')], ['/traces', '/insights'], 'other refusals have no trace')
  t.is(placeOf(found('quota.used', 'x', { project_id: null }))?.query['project'], undefined)
  t.is(placeOf(found('mail.bounced', 'prj_1', { params: { hours: 24 } }))?.query['since'], '2030-01-14T10:00:00.000Z')
  t.deepEqual(
    [
      ...errorsByPath([
        found('destination.resting', 'dst_1'),
        found('destination.login_refused', 'dst_1'),
        found('destination.failing', 'dst_1'),
        found('route.missing', 'prj_1', error),
        found('domain.dkim', 'a'),
        found('domain.spf', 'a'),
      ]),
    ],
    [
      ['/destinations/dst_1', 1],
      ['/routing', 1],
      ['/domains', 1],
    ],
  )
})

test('destinations: the most urgent finding, also of a project whose mail no provider accepts', (t) => {
  const all = found('mail.all_failing', 'prj_1', { params: { destinationIds: 'dst_1 dst_2' } })
  const resting = found('destination.resting', 'dst_2')
  const of = (...findings: readonly Finding[]) => [...byDestination(findings)].map(([id, { kind }]) => `${id} ${kind}`)
  t.deepEqual(of(all, resting), ['dst_2 destination.resting', 'dst_1 mail.all_failing'])
  t.deepEqual(of(found('mail.all_failing')), [], 'a finding of an earlier version')
})

test('rates: at least 50 recipients, of as many latest steps as needed', (t) => {
  const step = (taken: number, bounced = 0) => ({ taken, failed: 0, bounced, complained: 0 })
  t.deepEqual(ratesOf([step(49, 7), step(1), step(0), step(100, 10), step(30, 3)], 'bounced'), [null, 14, null, 10, 10])
  t.deepEqual(ratesOf([step(43, 7)], 'bounced'), [null])
})

test('marks: that of the state, or else of the severity', (t) => {
  t.is(markOf(found('destination.resting')), 'paused')
  t.is(markOf(found('route.missing')), 'captured')
  t.is(markOf(found('webhook.failing')), 'failed')
  t.is(markOf(found('mail.bounced')), 'warning')
  t.is(markOf(found('domain.unknown')), 'none')
  t.is(markOf(found('webhook.failing', 'whk_1', { state: 'over' })), 'ok')
})

const counts = (relayed: number, captured = 0, refused = 0) => ({
  ...{ relayed, captured_no_route: captured, captured_sandbox_destination: 0, captured_anonymous_project: 0, refused },
})

/** A day with these sends in its last hour. */
function situation(
  sends: ReturnType<typeof counts>,
  findings: readonly Finding[] = [],
  more: Partial<Situation> & { readonly used?: readonly string[] } = {},
): Situation {
  const live = ['dst_1', 'dst_2'].map((id) => ({ id, name: id, mode: 'live' }))
  const week = more.used && { data: more.used.map((id) => ({ destination_id: id, totals: { attempts: 1 } })) }
  const day = { totals: { taken: sends.relayed, failed: 0, deferred: 0 }, points: [] }
  return {
    ...{ findings, destinations: live, week, day, sends: { points: [counts(0), sends], totals: sends }, isFirst: false },
    ...more,
  } as unknown as Situation
}

const hourMs = 3_600_000

/** The finding of a message that is due for these hours, with the params of the check. */
function lateFor(hours: number): readonly Finding[] {
  const now = Date.parse(at)
  const waiting = { destinationId: 'dst_1', due: [now - hours * hourMs], held: 0, heldSince: undefined }
  return foundBy(queueConditions({ id: `prj_${hours}`, name: 'Shop' }, [waiting], () => false, now))
}

/** The finding of a project with five refused recipients. */
function failingIn(project: string): readonly Finding[] {
  const steps = [{ from: 0, subject: 'dst_1', counts: new Map([[recipientNames.failed, 5]]) }]
  const conditions = mailConditions({ project: { id: project, name: project }, steps, periods: { day: 0, hour: 0, quarter: 0 } })
  return foundBy(conditions).filter(({ kind }) => kind === 'mail.all_failing')
}

/** The findings of a check, with its params. */
const foundBy = (conditions: readonly Condition[]): readonly Finding[] =>
  sorted(conditions).observed.map(({ kind, subject, projectId, params }) => found(kind, subject, { params, project_id: projectId }))

test('sentence: the first condition that is true', (t) => {
  const says = (...given: Parameters<typeof situation>): string => sentenceOf(situation(...given)).says
  const [one, two] = [found('destination.resting', 'dst_1'), found('destination.resting', 'dst_2')]
  t.is(says(counts(5), [one, two]), 'nothing')
  t.is(says(counts(5), [one], { used: ['dst_1'] }), 'nothing', 'the other destination had no mail')
  t.is(says(counts(5), [one], { used: ['dst_1', 'dst_2'] }), 'except')
  const unrouted = [found('route.missing')]
  t.is(says(counts(0, 3), unrouted), 'captured')
  t.is(says(counts(1, 3), unrouted), 'all')
  t.is(says(counts(0, 3, 1), unrouted), 'all')
  t.is(says(counts(0, 3)), 'all', 'agents in the sandbox and tests of templates have another reason')
  const except = sentenceOf(situation(counts(5), [found('destination.failing', 'dst_1'), two], { used: ['dst_1', 'dst_2'] }))
  t.deepEqual(except.says === 'except' && column(except.destinations, 'id'), ['dst_2', 'dst_1'], 'paused ones first')
  const late = sentenceOf(situation(counts(5), [...lateFor(1), ...lateFor(3), ...lateFor(2)]))
  t.deepEqual(late, { says: 'late', since: Date.parse(at) - 3 * hourMs }, 'since the oldest message was due, not since the finding')
  t.is(says(counts(0), [], { isFirst: true }), 'first')
  t.is(says(counts(0)), 'quiet')
  t.is(says(counts(5), [found('webhook.failing', 'whk_1')]), 'all', 'the sentence is about mail alone')
})

test('sentence: no mail is going out while all destinations are in the sandbox', (t) => {
  const sandbox = { destinations: [{ id: 'dst_1', mode: 'sandbox' }] } as unknown as Partial<Situation>
  const [later, first] = [situation(counts(0), [], sandbox), situation(counts(0), [], { ...sandbox, isFirst: true })]
  t.is(sentenceOf(later).says, 'nothing')
  t.is(sentenceOf(first).says, 'first')
  t.deepEqual(effectOf(later, sentenceOf(later)), { says: 'sandbox' })
})

test('second line: the effect of the problem in the sentence, or the figures', (t) => {
  const effect = (...given: Parameters<typeof situation>) => effectOf(situation(...given), sentenceOf(situation(...given)))
  const resting = (id: string, waiting: number) => found('destination.resting', id, { params: { counted: 'yes', waiting } })
  const used = { used: ['dst_1', 'dst_2'] }
  t.deepEqual(effect(counts(5)), { says: 'figures' })
  const rest = { says: 'waiting', count: 38, destinations: 1 } as const
  t.deepEqual(effect(counts(5), [resting('dst_1', 38)], used), { ...rest, isRestOnTime: true })
  t.deepEqual(effect(counts(5), [resting('dst_1', 38), found('queue.late', 'prj_2', { project_id: 'prj_2' })], used), {
    ...rest,
    isRestOnTime: false,
  })
  t.deepEqual(effect(counts(5), [resting('dst_1', 38), resting('dst_2', 4)], used), {
    ...rest,
    count: 42,
    destinations: 2,
    isRestOnTime: false,
  })
  t.deepEqual(effect(counts(5), [resting('dst_1', 0)], used), { says: 'figures' })
  t.deepEqual(effect(counts(0, 3), [found('route.missing', 'prj_1', { params: { captured: 3, refused: 0 } })]), {
    says: 'unrouted',
    count: 3,
  })
  t.deepEqual(effect(counts(5), lateFor(2)), { says: 'figures' })
})

test('counts: messages, events or other things; rows show each count of a check', (t) => {
  const count = (kind: FindingKind, params: Finding['params']) => countOf({ kind, params })
  t.deepEqual(count('destination.resting', { counted: 'yes', waiting: 38 }), { label: 'waiting', unit: 'messages', count: 38 })
  t.is(count('destination.resting', { counted: 'no', waiting: 0 }), undefined, 'not counted')
  t.deepEqual(count('webhook.failing', { counted: 'yes', undelivered: 214, count: 9 })?.count, 214)
  t.deepEqual(count('route.missing', { captured: 3, refused: 0 }), { label: 'captured', unit: 'messages', count: 3 })
  t.deepEqual(count('route.missing', { captured: 3, refused: 2 }), { label: 'refused', unit: 'messages', count: 2 })
  t.is(count('domain.dkim', { domain: 'rigi.example' }), undefined)
  for (const finding of checkedFindings) {
    const numbers = ['undelivered', 'waiting', 'count', 'some', 'failed'].filter((name) => finding.params[name] !== undefined)
    if (numbers.length > 0 && finding.params['counted'] !== 'no') t.true(Number.isFinite(countOf(finding)?.count), finding.kind)
  }
})

test('sentence: mail of a project that no provider accepts', (t) => {
  const taken = (...steps: readonly number[]) => {
    const points = steps.map((many, n) => ({ at: new Date(Date.parse(at) + (n - 1) * 900_000).toISOString(), taken: many }))
    return { step_seconds: 900, points, totals: { taken: 9, failed: 20, deferred: 0 } } as unknown as Situation['day']
  }
  const of = (findings: readonly Finding[], day: Situation['day']) => sentenceOf(situation(counts(5), findings, { day }))
  t.is(of(failingIn('Shop'), taken(0, 0)).says, 'nothing')
  t.is(of(failingIn('Shop'), taken(9, 0)).says, 'nothing', 'accepted before the finding opened')
  t.deepEqual(of(failingIn('Shop'), taken(0, 1)), { says: 'exceptProjects', projects: ['Shop'] }, 'another project sends')
  t.is(of([...failingIn('Shop'), found('destination.failing', 'dst_1')], taken(0, 1)).says, 'except', 'the destination is the cause')
  t.is(of([...failingIn('Shop'), found('destination.failing', 'dst_1')], taken(0, 0)).says, 'nothing')
  const first = situation(counts(5), failingIn('Shop'), { day: taken(0, 0), isFirst: true })
  t.is(sentenceOf(first).says, 'nothing')
})
