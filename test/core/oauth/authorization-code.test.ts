import test from '#test'
import {
  addAuthorizationCode,
  findAuthorizationCode,
  isCodeChallenge,
  useAuthorizationCode,
  verifiesChallenge,
} from '#core/oauth/grants/authorization-code.ts'
import { Change } from '#store/change.ts'
import { coreFixture } from '../core-fixture.ts'

test('useAuthorizationCode() succeeds once, also in concurrent requests', async (t) => {
  const { database, clock } = await coreFixture(t)
  const change = new Change()
  const text = addAuthorizationCode(change, {
    ...{ clientId: 'c', redirectUri: 'https://a.example/', codeChallenge: 'x', organizationId: 'o', grantId: 'grt_1' },
    ...{ mayRefresh: true, expiresAt: clock.now() + 60_000, isUsed: false },
  })
  await database.commit(change)
  const found = await findAuthorizationCode(database, text)
  if (!found) return t.fail()
  const use = async () => {
    const attempt = new Change()
    useAuthorizationCode(attempt, found, clock.now())
    return (await database.commit(attempt)).ok
  }
  t.deepEqual((await Promise.all([use(), use()])).toSorted(), [false, true])
  t.true((await findAuthorizationCode(database, text))?.code.isUsed)
})

test('verifiesChallenge() follows RFC 7636 §B.', (t) => {
  const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'
  t.true(isCodeChallenge(challenge))
  t.true(verifiesChallenge('dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk', challenge))
  t.false(verifiesChallenge('dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXl', challenge))
  t.false(verifiesChallenge(challenge, challenge))
  for (const odd of ['', 'a', `${challenge}=`, challenge.replace('-', '+'), `${challenge}\n`]) t.false(isCodeChallenge(odd), odd)
})
