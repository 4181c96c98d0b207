/** Addresses with a star look like patterns but would match one address only. Inputs without patterns refuse them. */
import test from '#test'
import { startMcp } from '../../mcp/mcp-fixture.ts'
import { graphqlCaller } from '../../graphql/graphql-fixture.ts'
import { adminKey, errorOf, objectOf, startFixture } from '../fixture/rest-fixture.ts'

const patterns = ['*@spam.example', 'bot*@spam.example', '*@*.spam.example', '@spam.example'] as const
const sentence = 'email: must be one address such as ada@example.ch'

test('suppressions: every entry point refuses a pattern and stores nothing', async (t) => {
  const fixture = await startMcp(t)
  const { rest, address } = fixture
  const agent = await fixture.agent()
  const graphql = graphqlCaller(fixture)
  const mutation = 'mutation ($email: String!) { createSuppression(input: { email: $email }) { id } }'
  for (const email of patterns) {
    t.is(errorOf(await rest.call('POST', '/v1/suppressions', { email, reason: 'bots' })).message, sentence, `REST: ${email}`)
    t.is((await agent.refused('email_suppression_add', { email })).message, sentence, `MCP: ${email}`)
    t.is((await graphql.refused(mutation, { email })).message, `input.${sentence}`, `GraphQL: ${email}`)
  }
  const rows = patterns.map((email) => ({ email }))
  const imported = objectOf(await rest.call('POST', '/v1/suppressions/bulk-import', { rows }))
  t.like(imported, { added: 0, refused: patterns.length })
  t.deepEqual(
    (imported['rows'] as { message: string }[]).map(({ message }) => message),
    patterns.map(() => sentence),
  )
  const post = async (path: string, type: string, body: string) => {
    const headers = { authorization: `Bearer ${adminKey}`, 'content-type': type }
    return (await fetch(`http://${address}${path}`, { method: 'POST', headers, body })).text()
  }
  t.like(JSON.parse(await post('/v1/suppressions/bulk-import', 'text/csv', `email\n${patterns.join('\n')}\n`)), { added: 0 })
  const bounces = `status,reason,email,created\n${patterns.map((email) => `5.1.1,x,${email},1700000000`).join('\n')}\n`
  const notes = await post('/v1/suppressions/service-import', 'application/octet-stream', bounces)
  t.regex(notes, /"added":0,.*"refused":4/)
  t.deepEqual((await rest.must('GET', '/v1/suppressions'))['data'], [])
})

test('filters and allow lists: an invalid pattern is refused with the name of its field', async (t) => {
  const { rest } = await startFixture(t)
  const key = { allowed_origins: ['https://shop.example.ch'], allowed_to: ['ada@example.ch'], locked_from: 'form@example.ch' }
  const hold = (filter: object) => ['/v1/queue/holds', { filter }] as const
  const act = (filter: object) => ['/v1/queue/acts', { act: 'hold', filter, dry_run: true }] as const
  const cases = [
    [...hold({ from: '*@example.ch' }), /^filter\.from: must be an address such as shop@example\.ch, or @example\.ch/],
    [...hold({ to_domain: '*.example.ch' }), /^filter\.to_domain: must be a domain such as example\.com/],
    [...act({ from: '*@example.ch' }), /^filter\.from: must be an address/],
    [...act({ to_domain: '*.example.ch' }), /^filter\.to_domain: must be a domain/],
    [
      '/v1/publishable-keys',
      { ...key, allowed_to: ['*@example.ch'] },
      /^allowed_to\[0\]: must be an address such as ada@example\.ch, or @example\.ch/,
    ],
    ['/v1/publishable-keys', { ...key, locked_from: '*@example.ch' }, /^locked_from: must be one address/],
    ['/v1/inboxes', { address_pattern: '*@example.ch' }, /^address_pattern: must be \* for every address/],
    ['/v1/routing/rules', { match: '*@example.ch', destination_id: 'dst_none' }, /^match: matches one address only/],
    ['/v1/routing/rules', { match: 'shop*@example.ch', destination_id: 'dst_none' }, /^match: must be an address/],
  ] as const
  for (const [path, body, message] of cases) {
    const answer = await rest.call('POST', path, body)
    t.is(answer.status, 400, `${path} ${JSON.stringify(body)}`)
    t.regex(errorOf(answer).message, message, path)
  }
  for (const query of ['from=*@example.ch', 'to_domain=*.example.ch'])
    t.is((await rest.call('GET', `/v1/queue?${query}`)).status, 400, query)
})
