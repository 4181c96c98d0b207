/** Passkey challenges: for one purpose, for 15 minutes, used once. */
import test from '#test'
import { Challenges } from '#core/people/sign-in/challenges.ts'
import { relyingPartyOf } from '#core/people/sign-in/relying-party.ts'
import { Change } from '#store/change.ts'
import { coreFixture, secrets } from '../core-fixture.ts'

test('a challenge is valid for its purpose until its end, and an altered one is invalid', (t) => {
  const challenges = new Challenges(secrets)
  const now = Date.UTC(2030, 0, 1)
  const challenge = Buffer.from(challenges.issue('sign in', now)).toString('base64url')
  t.true(challenges.isGood(challenge, 'sign in', now + 15 * 60_000 - 1))
  t.false(challenges.isGood(challenge, 'sign in', now + 15 * 60_000))
  t.false(challenges.isGood(challenge, 'register usr_1', now))
  t.not(challenge, Buffer.from(challenges.issue('sign in', now)).toString('base64url'))
  const bytes = Buffer.from(challenge, 'base64url')
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes)
    changed[at] = (changed[at] ?? 0) ^ 1
    t.false(challenges.isGood(changed.toString('base64url'), 'sign in', now), `octet ${at}`)
  }
  for (const wrong of ['', 'x', challenge.slice(0, -2), `${challenge}AA`]) t.false(challenges.isGood(wrong, 'sign in', now))
})

test('a challenge is used once, also by two concurrent writes', async (t) => {
  const { database } = await coreFixture(t)
  const challenges = new Challenges(secrets)
  const challenge = Buffer.from(challenges.issue('sign in', 0)).toString('base64url')
  t.false(await challenges.wasUsed(database, challenge))
  const writes = [new Change(), new Change()]
  for (const change of writes) challenges.use(change, challenge, 0)
  const results = await Promise.all(writes.map((change) => database.commit(change)))
  t.is(results.filter(({ ok }) => ok).length, 1)
  t.true(await challenges.wasUsed(database, challenge))
})

test('relyingPartyOf() enables passkeys only for base URLs that browsers allow', (t) => {
  t.deepEqual(relyingPartyOf('https://post.example.ch'), { origin: 'https://post.example.ch', isHttps: true, id: 'post.example.ch' })
  t.deepEqual(relyingPartyOf('http://localhost:8080'), { origin: 'http://localhost:8080', isHttps: false, id: 'localhost' })
  for (const url of ['http://post.example.ch', 'http://127.0.0.1:8080', 'https://192.0.2.1', 'https://[2001:db8::1]'])
    t.is(relyingPartyOf(url).id, undefined, url)
})
