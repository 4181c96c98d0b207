import test from '#test'
import { SigningKeys } from '#core/oauth/tokens/signing-keys.ts'
import { SecretBox } from '#core/access/secret-box.ts'
import { coreFixture } from '../core-fixture.ts'

const day = 86_400_000
const facts = { grantId: 'grt_1', organizationId: 'org_1', projectId: 'prj_1', userId: null, clientId: 'c', scopes: ['api:read'] } as const

test('SigningKeys publishes a new key before use, and the old one until its last token ends', async (t) => {
  const { clock, part } = await coreFixture(t)
  const { signingKeys: keys } = part('oauth')
  const published = async () => (await keys.published()).map(({ kid }) => kid)
  const [first] = await published()
  t.is((await keys.current()).kid, first ?? '')
  clock.advance(90 * day - 1)
  t.deepEqual(await published(), [first])
  clock.advance(1)
  const [, second] = await published()
  t.deepEqual(await published(), [first, second])
  t.truthy(second)
  t.is((await keys.current()).kid, first ?? '', 'clients may not have the new one yet')
  clock.advance(day - 1)
  t.is((await keys.current()).kid, first ?? '')
  clock.advance(1)
  t.is((await keys.current()).kid, second ?? '')
  t.deepEqual(await published(), [first, second])
  clock.advance(day - 1)
  t.truthy(await keys.find(first))
  clock.advance(1)
  t.deepEqual(await published(), [second])
  t.is(await keys.find(first), undefined)
})

test('a token signed just before the change of keys is valid for its whole hour', async (t) => {
  const { clock, part } = await coreFixture(t)
  const { signingKeys: keys, accessTokens: tokens } = part('oauth')
  await keys.current()
  clock.advance(90 * day)
  await keys.published()
  clock.advance(day - 1)
  const token = await tokens.issue('rest', facts)
  clock.advance(1)
  t.like(await tokens.read(token, 'rest'), { grantId: 'grt_1', scopes: ['api:read'] })
  t.notDeepEqual(header(await tokens.issue('rest', facts)), header(token))
  clock.advance(3_600_000)
  t.truthy(await tokens.read(token, 'rest'))
})

const header = (token: string): unknown => JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString())

test('concurrent callers get one key, and so does the next process', async (t) => {
  const { context, clock, part } = await coreFixture(t)
  const { signingKeys: keys } = part('oauth')
  const found = await Promise.all(Array.from({ length: 20 }, () => keys.current()))
  t.is(new Set(found.map(({ kid }) => kid)).size, 1)
  clock.advance(90 * day)
  const sets = await Promise.all(Array.from({ length: 20 }, () => keys.published()))
  t.is(new Set(sets.map((set) => set.map(({ kid }) => kid).join())).size, 1)
  const next = new SigningKeys(context)
  t.deepEqual(await next.published(), await keys.published())
})

test('SigningKeys: after a year without use, the key changes once, not four times', async (t) => {
  const { clock, part } = await coreFixture(t)
  const { signingKeys: keys } = part('oauth')
  const { kid: first } = await keys.current()
  clock.advance(365 * day)
  t.is((await keys.current()).kid, first)
  t.is((await keys.published()).length, 2)
})

test('private keys are sealed and unpublished, and need the right master key', async (t) => {
  const { context, database, part } = await coreFixture(t)
  const { signingKeys: keys } = part('oauth')
  const [shown] = await keys.published()
  t.deepEqual(Object.keys(shown ?? {}).toSorted(), ['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y'])
  let rows = ''
  for await (const { value } of database.kv.range({ start: Buffer.of(0), end: Buffer.of(0xff) }))
    rows += Buffer.from(value).toString('utf8')
  t.true(rows.includes(shown?.kid ?? 'none'))
  t.notRegex(rows, /"d":/)
  const outsider = new SigningKeys({ ...context, secrets: new SecretBox(Buffer.alloc(32, 8)) })
  await t.throwsAsync(outsider.current(), { message: /cannot be opened with this master key/ })
})
