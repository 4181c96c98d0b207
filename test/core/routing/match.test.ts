/** Destination of a message, and decision between relay and capture. */
import test from '#test'
import { destinations, type Destination, type SmtpDestination } from '#core/routing/destination.ts'
import { matchRoute, orderRules, type RouteQuestion } from '#core/routing/match/match.ts'
import { decideOutcome } from '#core/routing/match/outcome.ts'
import type { RoutingRule, RuleMatch } from '#core/routing/rule.ts'
import { noRoutePolicies, type Project } from '#core/tenancy/organization.ts'
import { coreFixture, organizationId, projectId } from '../core-fixture.ts'
import { column } from '../../support/column.ts'

const destination = (id: string, changes: Partial<SmtpDestination> = {}) =>
  ({ id, projectId, name: id.toUpperCase(), mode: 'live', ...changes }) as Destination
const rule = (id: string, match: RuleMatch, destinationId: string, changes: Partial<RoutingRule> = {}): RoutingRule => ({
  id,
  projectId,
  match,
  destinationId,
  priority: 10,
  createdAt: 0,
  ...changes,
})

const healthy = { restMs: () => 0 }

function route(
  rules: readonly RoutingRule[],
  question: Partial<RouteQuestion>,
  more: readonly Destination[] = [],
  orgDefault?: Destination,
) {
  const all = [destination('d1'), destination('d2'), destination('d3'), destination('foreign', { projectId: 'prj_2' }), ...more]
  const settings = {
    destinations: new Map(all.map((one) => [one.id, one])),
    rules: Map.groupBy(orderRules(rules), (one) => one.projectId),
    orgDefault,
  }
  return matchRoute(settings, { projectId, from: 'shop@example.com', ...question }, healthy)
}

test('orderRules(): sorts by priority, specificity, age and id', (t) => {
  const any = { any: true } as const
  const rules = [
    rule('r9', any, 'd1', { priority: 20, createdAt: 1 }),
    rule('r8', any, 'd1', { priority: 20 }),
    rule('r7', any, 'd1', { priority: 20 }),
    rule('r6c', { domain: '*.ch' }, 'd1', { priority: 20 }),
    rule('r6b', { domain: '*.x.ch' }, 'd1', { priority: 20, createdAt: 5 }),
    rule('r6', { domain: 'a.very.long.name.x.ch' }, 'd1', { priority: 20 }),
    rule('r5', { from: 'a@x.ch' }, 'd1', { priority: 20, createdAt: 99 }),
    rule('r4', any, 'd1', { priority: 0 }),
    rule('r3', any, 'd1', { priority: -5 }),
  ]
  t.deepEqual(column(orderRules(rules), 'id'), ['r3', 'r4', 'r5', 'r6', 'r6b', 'r6c', 'r7', 'r8', 'r9'])
})

test('matchRoute(): takes the first matching rule, even before a more specific one', (t) => {
  const rules = [rule('r1', { domain: 'example.com' }, 'd1', { priority: 1 }), rule('r2', { from: 'shop@example.com' }, 'd2')]
  t.like(route(rules, {}), { by: 'rule', ruleId: 'r1', reason: 'Rule domain example.com (priority 1) selects the destination D1.' })
  t.is(
    route(
      rules.toReversed().map((one) => ({ ...one, priority: 1 })),
      {},
    ).ruleId,
    'r2',
  )
})

test('matchRoute(): ignores case, and compares domains exactly', (t) => {
  const rules = [
    rule('r1', { from: 'shop@example.com' }, 'd1'),
    rule('r2', { domain: 'example.com' }, 'd2'),
    rule('r3', { any: true }, 'd3'),
  ]
  const to = (from: string) => route(rules, { from }).destination?.id
  t.is(to('SHOP@Example.COM'), 'd1')
  t.is(to('blog@EXAMPLE.com'), 'd2')
  for (const from of ['shop@sub.example.com', 'shop@notexample.com', 'shop@example.com.test', 'example.com@x.test', ''])
    t.is(to(from), 'd3', from)
})

test('matchRoute(): a wildcard matches subdomains at any depth, not the domain', (t) => {
  const rules = [
    rule('r1', { domain: '*.example.com' }, 'd1'),
    rule('r2', { domain: '*.xn--mller-kva.ch' }, 'd2'),
    rule('r3', { any: true }, 'd3'),
  ]
  const to = (from: string) => route(rules, { from }).destination?.id
  for (const from of ['shop@a.example.com', 'shop@A.b.c.EXAMPLE.com', 'example.com@a.example.com']) t.is(to(from), 'd1', from)
  for (const from of ['a@mail.müller.ch', 'a@MAIL.MÜLLER.ch', 'a@mail.xn--mller-kva.ch']) t.is(to(from), 'd2', from)
  for (const from of ['shop@example.com', 'shop@notexample.com', 'a.example.com@x.test', 'shop@a.example.com.test', 'a@müller.ch', ''])
    t.is(to(from), 'd3', from)
})

test('matchRoute(): compares internationalized senders in every spelling', (t) => {
  const rules = [rule('r1', { from: 'shop@xn--mller-kva.ch' }, 'd1'), rule('r2', { domain: 'xn--mller-kva.ch' }, 'd2')]
  const to = (from: string) => route(rules, { from }).destination?.id
  for (const from of ['Shop@Müller.ch', 'shop@MÜLLER.CH', 'shop@mu\u0308ller.ch', 'SHOP@XN--MLLER-KVA.ch']) t.is(to(from), 'd1', from)
  t.is(to('büro@müller.ch'), 'd2')
  t.is(to('shop@muller.ch'), undefined)
})

test("matchRoute(): falls back to the organization's default sender after all rules", (t) => {
  const orgDefault = destination('shared', { projectId: 'prj_2', shared: 'org_default' })
  const rules = [rule('r1', { domain: 'example.com' }, 'd1'), rule('r2', { domain: 'wide.test' }, 'shared')]
  const ask = (from: string, asked?: RouteQuestion['asked']) => route(rules, { from, asked }, [orgDefault], orgDefault)
  t.like(ask('a@example.com'), { by: 'rule', ruleId: 'r1' })
  t.like(ask('a@wide.test'), { by: 'rule', ruleId: 'r2', destination: { id: 'shared' } })
  t.like(ask('a@other.test'), {
    by: 'org_default',
    ruleId: null,
    destination: { id: 'shared' },
    reason: 'No routing rule of the project matches a@other.test; it goes to the organization default sender, the destination SHARED.',
  })
  t.like(ask('a@example.com', { by: 'request', destinationId: 'shared' }), { by: 'request', destination: { id: 'shared' } })
  t.throws(() => ask('a@example.com', { by: 'request', destinationId: 'gone' }), { code: 'validation_failed' })
})

test('matchRoute(): skips rules of other projects and of deleted destinations', (t) => {
  const rules = [
    rule('r1', { any: true }, 'gone', { priority: 1 }),
    rule('r0', { any: true }, 'foreign', { priority: 2 }),
    rule('r2', { any: true }, 'd2', { projectId: 'prj_2', priority: 1 }),
    rule('r3', { any: true }, 'd3'),
  ]
  t.is(route(rules, {}).ruleId, 'r3')
  t.deepEqual(route(rules.slice(0, 3), {}), {
    by: 'none',
    destination: undefined,
    ruleId: null,
    reason: 'No routing rule of the project matches shop@example.com.',
  })
  t.is(route([], { from: '' }).reason, 'No routing rule of the project matches the message.')
})

test('matchRoute(): uses the requested destination, or refuses it', (t) => {
  const rules = [rule('r1', { any: true }, 'd1')]
  t.like(route(rules, { asked: { by: 'request', destinationId: 'd2' } }), {
    by: 'request',
    ruleId: null,
    reason: 'The request selects the destination D2.',
  })
  t.like(route(rules, { asked: { by: 'credential', destinationId: 'd2' } }), {
    by: 'credential',
    reason: 'The SMTP credential selects the destination D2.',
  })
  for (const destinationId of ['foreign', 'gone', '']) {
    t.throws(() => route(rules, { asked: { by: 'request', destinationId } }), {
      code: 'validation_failed',
      message: 'destination_id: no destination of this project has this id',
    })
    t.throws(() => route(rules, { asked: { by: 'credential', destinationId } }), {
      code: 'destination_misconfigured',
      message: 'The default destination of this SMTP credential no longer exists; set another one.',
    })
  }
})

test('decideOutcome(): follows the five rules in every combination', (t) => {
  for (const status of ['anonymous', 'claimed'] as const) {
    for (const mode of ['live', 'sandbox', undefined] as const) {
      for (const noRoutePolicy of noRoutePolicies) {
        const project = { status, noRoutePolicy } as Project
        const found = mode && destination('d1', { mode })
        const chosen = { by: found ? 'rule' : 'none', destination: found, ruleId: null, reason: 'No rule.' } as const
        const decide = () => decideOutcome(project, chosen)
        if (status === 'anonymous') t.like(decide(), { outcome: 'captured.anonymous_project', destinationId: null })
        else if (mode === 'sandbox') t.like(decide(), { outcome: 'captured.sandbox_destination', destinationId: 'd1' })
        else if (mode === 'live') t.like(decide(), { outcome: 'relayed', destinationId: 'd1' })
        else if (noRoutePolicy === 'capture') t.like(decide(), { outcome: 'captured.no_route', destinationId: null })
        else t.throws(decide, { code: 'no_route', message: new RegExp(`^No rule\\. The project's no-route policy is ${noRoutePolicy};`) })
      }
    }
  }
})

test('Policies.of(): reads once, and again after a change of a setting', async (t) => {
  const fixture = await coreFixture(t)
  const first = await fixture.policies.of(organizationId)
  t.is(await fixture.policies.of(organizationId), first)
  await fixture.submit()
  t.is(await fixture.policies.of(organizationId), first, 'messages are not settings')
  await fixture.destination()
  const second = await fixture.policies.of(organizationId)
  t.deepEqual([...second.destinations.keys()], ['dst_1'])
  await fixture.rule({ any: true })
  t.is((await fixture.policies.of(organizationId)).rules.get(projectId)?.length, 1)
  await fixture.remove(destinations, 'dst_1')
  t.is((await fixture.policies.of(organizationId)).destinations.size, 0)
  const [one, two] = await Promise.all([fixture.policies.of(organizationId), fixture.policies.of(organizationId)])
  t.is(one, two)
})

test('Policies.of(): includes a setting written during its read', async (t) => {
  const fixture = await coreFixture(t)
  await fixture.destination()
  const reading = fixture.policies.of(organizationId)
  await fixture.destination({ mode: 'sandbox' })
  await reading
  t.is((await fixture.policies.of(organizationId)).destinations.get('dst_1')?.mode, 'sandbox')
})

test('Policies.of(): fails for an unknown organization, and tries again next time', async (t) => {
  const fixture = await coreFixture(t)
  await t.throwsAsync(fixture.policies.of('org_2'), { message: 'organization org_2 is missing' })
  await t.throwsAsync(fixture.policies.of('org_2'), { message: 'organization org_2 is missing' })
})

/** Route of a message that names the environment, by source of the name. */
function inEnvironment(
  all: readonly Destination[],
  changes: Partial<Parameters<typeof matchRoute>[0]> = {},
  asked?: RouteQuestion['asked'],
  down: readonly string[] = [],
) {
  const settings = { destinations: new Map(all.map((one) => [one.id, one])), rules: new Map(), ...changes }
  const health = { restMs: ({ id }: Destination) => (down.includes(id) ? 1000 : 0) }
  return matchRoute(settings, { projectId, from: 'shop@example.com', asked }, health)
}

const production = { environment: 'production', priority: 10, createdAt: 5 }
const byRequest = { by: 'request', environment: 'production' } as const

test('matchRoute(): picks the live, healthy destination by priority, then age', (t) => {
  const all = [
    destination('other', { ...production, environment: 'staging', priority: 1 }),
    destination('foreign', { ...production, projectId: 'prj_2', priority: 1 }),
    destination('sandbox', { ...production, mode: 'sandbox', priority: 1 }),
    destination('younger', { ...production, createdAt: 6 }),
    destination('older', production),
    destination('later', { ...production, priority: 20, createdAt: 1 }),
    destination('shared', { ...production, projectId: 'prj_2', shared: 'org', priority: 30 }),
  ]
  const taken = (...down: string[]) => inEnvironment(all, {}, byRequest, down)
  t.like(taken(), { by: 'request', environment: 'production', ruleId: null })
  t.is(taken().reason, 'The request selects the environment production, and its destination OLDER (priority 10).')
  t.is(taken('older').destination?.id, 'younger')
  t.is(taken('older', 'younger').destination?.id, 'later')
  t.regex(taken('older', 'younger').reason, /\(OLDER, YOUNGER are down now\)\.$/)
  t.is(taken('older', 'younger', 'later').destination?.id, 'shared')
  t.is(taken('older', 'younger', 'later', 'shared').destination?.id, 'older', 'if all are down, mail waits for the first')
  const sandboxes = all.filter(({ mode }) => mode === 'sandbox')
  t.is(inEnvironment(sandboxes, {}, byRequest).destination?.id, 'sandbox', 'if none is live, mail is captured')
})

test('matchRoute(): takes the environment from request, login, rules, then project', (t) => {
  const all = [destination('d1', production), destination('d2', { ...production, environment: 'staging' }), destination('d3')]
  const projects = new Map([[projectId, { environment: 'staging' }]])
  const rules = (environment: string) =>
    new Map([
      [projectId, [{ ...rule('r1', { any: true }, ''), destinationId: null, environment }, rule('r2', { domain: 'example.ch' }, 'd3')]],
    ])
  t.like(inEnvironment(all, { projects }), { by: 'project', environment: 'staging', destination: { id: 'd2' } })
  t.like(inEnvironment(all, { projects, rules: rules('production') }), {
    by: 'rule',
    ruleId: 'r1',
    environment: 'production',
    destination: { id: 'd1' },
  })
  t.like(
    inEnvironment(all, { projects, rules: rules('gone') }),
    { by: 'project', destination: { id: 'd2' } },
    'a rule with an empty environment is skipped',
  )
  const credential = { by: 'credential', environment: 'production' } as const
  t.like(inEnvironment(all, { projects, rules: rules('staging') }, credential), { by: 'credential', destination: { id: 'd1' } })
  const orgDefault = all[2]
  const empty = inEnvironment(all, { projects: new Map([[projectId, { environment: 'gone' }]]), orgDefault })
  t.like(empty, { by: 'org_default', destination: { id: 'd3' } })
  t.regex(empty.reason, /no destination has the environment of the project; it goes to the organization default sender/)
})

test('matchRoute(): refuses an unknown environment, naming the existing ones', (t) => {
  const all = [destination('d1', production), destination('foreign', { ...production, environment: 'secret', projectId: 'prj_2' })]
  const asked = (by: 'request' | 'credential') => () => inEnvironment(all, {}, { by, environment: 'prod' })
  t.throws(asked('request'), { message: /no destination of this project has the environment prod; known environments: production$/ })
  t.throws(asked('credential'), { code: 'destination_misconfigured', message: /environment of this SMTP credential/ })
})
