import test from '#test'
import { Refusal } from '#core/refusals.ts'
import { bearerAuthentication } from '../../../admin-api/credentials/authentication.ts'

const seen: string[][] = []
const authenticate = bearerAuthentication(async (key, remoteAddress) => {
  seen.push([key, remoteAddress])
  return { organizationId: 'o', projectId: 'p', bound: false, scopes: ['api:read'], credentialId: 'g' }
})

test.serial('bearerAuthentication() passes the bare key and the address to the check', async (t) => {
  t.is((await authenticate({ authorization: 'bearer  svckey_A-b_c~9+/=' }, '192.0.2.1')).credentialId, 'g')
  t.deepEqual(seen.splice(0), [['svckey_A-b_c~9+/=', '192.0.2.1']])
})

test.serial('bearerAuthentication() refuses other schemes and malformed keys without the check', async (t) => {
  for (const authorization of ['Basic YTpi', 'svckey_abc', 'Bearer', 'Bearer ', 'Bearer a b', 'Bearer a,b', `Bearer ${'x'.repeat(5000)}`]) {
    t.throws(() => authenticate({ authorization }, ''), {
      instanceOf: Refusal,
      message: 'The Authorization header must be the word Bearer, a space and your API key.',
    })
  }
  t.throws(() => authenticate({}, ''), { message: /^Send your API key in the header/ })
  t.deepEqual(seen, [])
})
