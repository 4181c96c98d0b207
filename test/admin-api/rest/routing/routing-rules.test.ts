import test from '#test'
import { addDestination, errorOf, refusal, startFixture, type Fixture } from '../fixture/rest-fixture.ts'

test('createRoutingRule takes a match as an object or as text', async (t) => {
  const { rest } = await startFixture(t)
  const destination_id = await addDestination(rest)
  const matchOf = async (match: unknown) => {
    const made = await rest.must('POST', '/v1/routing/rules', { match, destination_id })
    await rest.must('DELETE', `/v1/routing/rules/${String(made['id'])}`)
    return made['match']
  }
  t.deepEqual(await matchOf({ from: 'Shop@Example.ch' }), { from: 'shop@example.ch' })
  t.deepEqual(await matchOf({ domain: 'Müller.ch' }), { domain: 'xn--mller-kva.ch' })
  t.deepEqual(await matchOf({ any: true }), { any: true })
  t.deepEqual(await matchOf('a@b.ch'), { from: 'a@b.ch' })
  t.deepEqual(await matchOf('b.ch'), { domain: 'b.ch' })
  t.deepEqual(await matchOf('@b.ch'), { domain: 'b.ch' })
  t.deepEqual(await matchOf('*'), { any: true })
  t.deepEqual(await matchOf('*.b.ch'), { domain: '*.b.ch' })
  t.deepEqual(await matchOf('@*.B.ch'), { domain: '*.b.ch' })
  t.deepEqual(await matchOf({ domain: '*.Müller.ch' }), { domain: '*.xn--mller-kva.ch' })
  t.deepEqual(await matchOf({ domain: '*.ch' }), { domain: '*.ch' })
  t.deepEqual(await matchOf('shop@Müller.ch'), { from: 'shop@xn--mller-kva.ch' })
})

test('createRoutingRule returns the whole resource', async (t) => {
  const { rest, clock } = await startFixture(t)
  const destination_id = await addDestination(rest)
  const made = await rest.call('POST', '/v1/routing/rules', { match: '*', destination_id })
  t.is(made.status, 201)
  const { id, project_id, warnings, ...others } = made.body as Record<string, unknown>
  t.deepEqual(warnings, [])
  t.regex(String(id), /^rul_[0-9a-f]{32}$/)
  t.regex(String(project_id), /^prj_/)
  t.deepEqual(others, {
    match: { any: true },
    destination_id,
    environment: null,
    priority: 100,
    created_at: new Date(clock.now()).toISOString(),
  })
  t.deepEqual(await rest.must('GET', `/v1/routing/rules/${String(id)}`), { id, project_id, ...others })
})

test('a rule that another rule makes redundant is refused, on create and on update', async (t) => {
  const { rest } = await startFixture(t)
  const [destination_id, other] = [await addDestination(rest), await addDestination(rest)]
  const make = (match: string, changes = {}) => rest.call('POST', '/v1/routing/rules', { match, destination_id, ...changes })
  const first = (await make('@shop.ch')).body as Record<string, unknown>
  const message = `The rule ${String(first['id'])} has the same match and destination; change its priority instead of creating another.`
  t.deepEqual(refusal(await make('SHOP.ch', { priority: 5 })), [409, 'conflict', message])
  t.is((await make('shop.ch', { destination_id: other })).status, 201)
  const another = (await make('*.shop.ch')).body as Record<string, unknown>
  const change = (changes: object) => rest.call('PATCH', `/v1/routing/rules/${String(another['id'])}`, changes)
  t.deepEqual(refusal(await change({ match: 'shop.ch' })), [409, 'conflict', message])
  t.is((await change({ priority: 7 })).status, 200)
})

test('createRoutingRule names the invalid field', async (t) => {
  const { rest, addProject } = await startFixture(t)
  const destination_id = await addDestination(rest)
  const wrong = async (changes: object) =>
    errorOf(await rest.call('POST', '/v1/routing/rules', { match: '*', destination_id, ...changes })).message
  t.is(await wrong({ match: 'a b@c' }), 'match: must be an address such as shop@example.ch')
  t.is(
    await wrong({ match: 'a_b..ch' }),
    'match: must be an address such as shop@example.ch, a domain such as example.ch, its subdomains as *.example.ch, or *',
  )
  t.is(await wrong({ match: { from: 'x' } }), 'match.from: must be an address such as shop@example.ch')
  t.is(await wrong({ match: { domain: 'a@b.ch' } }), 'match.domain: must be a domain such as example.ch, or its subdomains as *.example.ch')
  for (const domain of ['*.*.b.ch', 'a.*.b.ch', '*b.ch', '*.', '**', 'b.*'])
    t.is(await wrong({ match: { domain } }), 'match.domain: can contain * only for all subdomains, as in *.example.ch', domain)
  t.is(await wrong({ match: 'a.*.b.ch' }), 'match: can contain * only for all subdomains, as in *.example.ch')
  t.is(await wrong({ match: '*@b.ch' }), 'match: matches one address only; for every address of the domain, match b.ch')
  t.is(await wrong({ match: { any: false } }), 'match.any: must be true')
  const several = 'match: give exactly one of from, domain, any'
  t.is(await wrong({ match: { from: 'a@b.ch', domain: 'b.ch' } }), several)
  t.is(await wrong({ match: { any: true, domain: 'b.ch' } }), several)
  t.is(await wrong({ match: {} }), several)
  t.is(await wrong({ match: { form: 'a@b.ch' } }), several)
  t.is(await wrong({ match: { domain: 'b.ch', extra: 1 } }), 'match.extra: is not a known field')
  t.is(await wrong({ match: { from: '' } }), 'match.from: must not be empty')
  t.is(await wrong({ match: undefined }), 'match: is required')
  t.is(await wrong({ match: 7 }), 'match: expected text or an object, got a number')
  t.is(await wrong({ destination_id: 'dst_none' }), 'destination_id: no destination of this project has this id')
  t.is(await wrong({ priority: 1.5 }), 'priority: expected a whole number, got 1.5')
  const other = await addDestination(rest, { project_id: await addProject() })
  const { project_id } = await rest.must('GET', '/v1/projects/me')
  t.is(await wrong({ destination_id: other, project_id }), 'destination_id: no destination of this project has this id')
})

test('a rule belongs to the project of its destination', async (t) => {
  const { rest, addProject } = await startFixture(t)
  const project = await addProject()
  const made = await rest.must('POST', '/v1/routing/rules', {
    match: '*',
    destination_id: await addDestination(rest, { project_id: project }),
  })
  t.is(made['project_id'], project)
})

test('listRoutingRules returns rules in matching order, in pages', async (t) => {
  const { rest } = await startFixture(t)
  const destination_id = await addDestination(rest)
  const other = await addDestination(rest)
  const make = async (match: string, priority: number, id = destination_id) =>
    (await rest.must('POST', '/v1/routing/rules', { match, destination_id: id, priority }))['id']
  const last = await make('*', 10)
  const wide = await make('*.ch', 10)
  const wildcard = await make('*.b.ch', 10)
  const address = await make('a@b.ch', 10)
  const domain = await make('b.ch', 10)
  const first = await make('*', 1, other)
  const seen: unknown[] = []
  for await (const { id } of rest.rows('/v1/routing/rules', 3)) seen.push(id)
  t.deepEqual(seen, [first, address, domain, wildcard, wide, last])
})

test('updateRoutingRule changes the given fields, deleteRoutingRule deletes the rule', async (t) => {
  const { rest, addProject } = await startFixture(t)
  const destination_id = await addDestination(rest)
  const made = await rest.must('POST', '/v1/routing/rules', { match: '*', destination_id, priority: 3 })
  const path = `/v1/routing/rules/${String(made['id'])}`
  t.deepEqual(await rest.must('PATCH', path, { match: 'b.ch' }), { ...made, match: { domain: 'b.ch' } })
  t.deepEqual(await rest.must('PATCH', path, { priority: 4 }), { ...made, match: { domain: 'b.ch' }, priority: 4 })
  const foreign = await addDestination(rest, { project_id: await addProject() })
  t.is(
    errorOf(await rest.call('PATCH', path, { destination_id: foreign })).message,
    'destination_id: no destination of this project has this id',
  )
  t.is((await rest.call('DELETE', path)).status, 204)
  const none = [404, 'not_found', 'No routing rule has this id.'] as const
  for (const answer of [await rest.call('GET', path), await rest.call('DELETE', path), await rest.call('PATCH', path, {})])
    t.deepEqual(refusal(answer), none)
})

const codes = (answer: Readonly<Record<string, unknown>>): string[] => (answer['warnings'] as { code: string }[]).map(({ code }) => code)

async function ruleOf({ rest }: Fixture, destination: string, match: unknown, priority: number): Promise<Record<string, unknown>> {
  return rest.must('POST', '/v1/routing/rules', { match, priority, destination_id: destination })
}

test('a rule that no mail reaches has a warning that names the earlier rule', async (t) => {
  const fixture = await startFixture(t)
  const { rest } = fixture
  const [first, second] = [await addDestination(rest), await addDestination(rest)]
  const all = await ruleOf(fixture, first, '*', 1000)
  t.deepEqual(all['warnings'], [])
  const behind = await ruleOf(fixture, second, 'example.ch', 2000)
  t.deepEqual(behind['warnings'], [
    {
      code: 'rule_unreachable',
      step: 'routing',
      message:
        `Rule ${String(all['id'])} (priority 1000) is tried first and matches all mail that this rule (priority 2000) matches. ` +
        'Give this rule a smaller priority, or delete the other one.',
    },
  ])
  const path = `/v1/routing/rules/${String(behind['id'])}`
  t.deepEqual(codes(await rest.must('PATCH', path, { priority: 10 })), [])
  t.deepEqual(codes(await rest.must('PATCH', path, { priority: 1001 })), ['rule_unreachable'])
  t.false('warnings' in (await rest.must('GET', path)))
})

const pairs: readonly (readonly [wide: string, narrow: string, isUnreachable: boolean])[] = [
  ['*', '*.example.ch', true],
  ['example.ch', 'shop@example.ch', true],
  ['example.ch', 'example.ch', true],
  ['*.example.ch', 'shop@mail.example.ch', true],
  ['*.example.ch', 'mail.example.ch', true],
  ['*.example.ch', '*.mail.example.ch', true],
  ['shop@example.ch', 'shop@example.ch', true],
  ['*.example.ch', 'example.ch', false],
  ['*.example.ch', '*.ample.ch', false],
  ['*.mail.example.ch', '*.example.ch', false],
  ['example.ch', '*', false],
  ['shop@example.ch', 'example.ch', false],
  ['example.ch', 'shop@mail.example.ch', false],
]

test('a rule is unreachable only if an earlier rule matches each of its senders', async (t) => {
  const fixture = await startFixture(t)
  for (const [wide, narrow, isUnreachable] of pairs) {
    const destinations = [await addDestination(fixture.rest), await addDestination(fixture.rest)] as const
    const project = await fixture.addProject()
    const rules = []
    for (const [at, match] of [wide, narrow].entries()) {
      const body = { match, priority: 10 + at, destination_id: destinations[at], project_id: project }
      await fixture.rest.must('PATCH', `/v1/destinations/${String(destinations[at])}`, { scope: 'org' })
      rules.push(await fixture.rest.must('POST', '/v1/routing/rules', body))
    }
    t.deepEqual(codes(rules[1] ?? {}), isUnreachable ? ['rule_unreachable'] : [], `${wide} before ${narrow}`)
  }
})
