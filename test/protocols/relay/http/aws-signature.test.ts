/** Checks against Amazon's published test vectors for Signature Version 4. */
import test, { type ExecutionContext } from '#test'
import { signedHeaders } from '../../../../protocols/relay/http/vendors/aws-signature.ts'

const keys = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' }
const scope = { region: 'us-east-1', service: 'service', nowMs: Date.UTC(2015, 7, 30, 12, 36, 0) }
const origin = 'https://example.amazonaws.com'

const vector = test.macro({
  exec(t: ExecutionContext, method: string, path: string, signature: string, headers?: Record<string, string>, body?: string) {
    const signed = signedHeaders({ method, url: `${origin}${path}`, headers: headers ?? {}, body: Buffer.from(body ?? '') }, keys, scope)
    const names = [...Object.keys(headers ?? {}).map((name) => name.toLowerCase()), 'host', 'x-amz-date'].toSorted().join(';')
    t.is(
      signed['authorization'],
      `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=${names}, Signature=${signature}`,
    )
    t.is(signed['x-amz-date'], '20150830T123600Z')
  },
  title: (name = '') => `signedHeaders() signs ${name} as published`,
})

test('get-vanilla', vector, 'GET', '/', '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31')
test('post-vanilla', vector, 'POST', '/', '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b')
test(
  'get-vanilla-query-order-key-case',
  vector,
  'GET',
  '/?Param2=value2&Param1=value1',
  'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
)
test('post-vanilla-query', vector, 'POST', '/?Param1=value1', '28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11')
test(
  'post-x-www-form-urlencoded',
  vector,
  'POST',
  '/',
  'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
  { 'Content-Type': 'application/x-www-form-urlencoded' },
  'Param1=value1',
)

test('signedHeaders(): signs the token of temporary credentials', (t) => {
  const request = { method: 'GET', url: origin, headers: {}, body: Buffer.alloc(0) }
  const signed = signedHeaders(request, { ...keys, sessionToken: 'token' }, scope)
  t.is(signed['x-amz-security-token'], 'token')
  t.regex(signed['authorization'] ?? '', /SignedHeaders=host;x-amz-date;x-amz-security-token,/)
})
