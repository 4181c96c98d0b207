/** Tokens of publishable keys, and the base URL they are valid for. */
import test from '#test'
import { SecretBox } from '#core/access/secret-box.ts'
import { KeyTokens } from '#core/publishable/key-token.ts'

const secrets = new SecretBox(Buffer.alloc(32, 3))
const facts = { keyId: 'pub_1', tokenId: 'tok_1', organizationId: 'org_1', projectId: 'prj_1' }
const tokensAt = (origin: string) => new KeyTokens({ secrets, issuer: origin, audience: `${origin}/v1` })

test('read() treats loopback names and addresses as equal, and no others', (t) => {
  const token = tokensAt('http://127.0.0.1:8080').sign(facts, 0)
  t.is(tokensAt('http://127.0.0.1:8080').read(token), 'tok_1')
  t.is(tokensAt('http://localhost:8080').read(token), 'tok_1')
  t.is(tokensAt('http://[::1]:8080').read(token), 'tok_1')
  t.is(tokensAt('http://localhost:8081').read(token), undefined)
  t.is(tokensAt('http://127.0.0.10:8080').read(token), undefined)
  t.is(tokensAt('https://localhost:8080').read(token), undefined)
  t.is(tokensAt('https://mail.example.ch').read(token), undefined)
  const elsewhere = tokensAt('https://mail.example.ch').sign(facts, 0)
  t.is(tokensAt('http://localhost:8080').read(elsewhere), undefined)
})
