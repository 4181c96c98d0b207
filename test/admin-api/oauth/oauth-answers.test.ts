/** Refusals in the OAuth format, also before an endpoint is reached. */
import test from '#test'
import { OAuthError } from '#core/oauth/protocol/oauth-error.ts'
import { invalid, Refusal } from '#core/refusals.ts'
import { challenge } from '../../../admin-api/credentials/challenge.ts'
import { endpointOperations } from '../../../admin-api/oauth/endpoints.ts'
import { oauthRefusal, registrationRefusal } from '../../../admin-api/oauth/oauth-answers.ts'
import { call, startDemo } from '../http/demo-api.ts'

const told = (refusal: Refusal, form = oauthRefusal) => {
  const { status, body, headers } = form(refusal, {})
  return { status, retryAfter: headers['retry-after'], ...(JSON.parse(body as string) as { error: string; error_description: string }) }
}

test('oauthRefusal(): returns OAuth code, status and retry time', (t) => {
  t.deepEqual(told(new OAuthError('invalid_grant', 'Over.')), {
    status: 400,
    retryAfter: undefined,
    error: 'invalid_grant',
    error_description: 'Over.',
  })
  t.like(told(new OAuthError('temporarily_unavailable', 'Later.', { retryAfterSeconds: 7.2 })), { status: 429, retryAfter: '8' })
  t.like(told(new Refusal('overloaded', 'Busy.', { retryAfterSeconds: 5 })), {
    status: 503,
    error: 'temporarily_unavailable',
    retryAfter: '5',
  })
  t.like(told(new Refusal('storage_full', 'Full.')), { status: 503, error: 'temporarily_unavailable' })
  t.like(told(new Refusal('internal_error', 'Broken.')), { status: 500, error: 'server_error' })
  t.like(told(new Refusal('request_too_large', 'Long.')), { status: 413, error: 'invalid_request' })
})

test('oauthRefusal(): descriptions use only characters of RFC 6749 §5.2', (t) => {
  t.is(told(new Refusal('validation_failed', 'Send "a\\b" – now\n')).error_description, "Send 'a'b' ? now?")
})

test('registrationRefusal(): names the invalid part of the metadata', (t) => {
  t.is(told(invalid([{ path: 'redirect_uris[0]', message: 'is wrong' }]), registrationRefusal).error, 'invalid_redirect_uri')
  t.is(told(invalid([{ path: 'client_name', message: 'is wrong' }]), registrationRefusal).error, 'invalid_client_metadata')
  t.is(told(new Refusal('overloaded', 'Busy.'), registrationRefusal).error, 'temporarily_unavailable')
})

test('OAuth errors: load shedding and defects use the OAuth format', async (t) => {
  const broken = { answer: () => Promise.reject(new Error('the secret inside')) }
  const operations = endpointOperations({ tokenEndpoint: broken as never, revocation: {} as never, registrations: {} as never })
  const form = { headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'a=b' }
  const admission = {
    check() {
      throw new Refusal('overloaded', 'Too busy.', { retryAfterSeconds: 1 })
    },
  }
  const busy = await startDemo(t, { operations, admission })
  const shed = await call(busy.port, 'POST', '/oauth/token', form)
  t.is(shed.status, 503)
  t.is(shed.headers['retry-after'], '1')
  t.deepEqual(JSON.parse(shed.text), { error: 'temporarily_unavailable', error_description: 'Too busy.' })
  const { port, failures, answered } = await startDemo(t, { operations })
  const failed = await call(port, 'POST', '/oauth/token', form)
  t.is(failed.status, 500)
  t.like(JSON.parse(failed.text), { error: 'server_error' })
  t.false(failed.text.includes('secret'))
  t.is(failures.length, 1)
  t.like(answered[0], { operationId: 'issueToken', code: 'internal_error', status: 500 })
})

test('challenge(): bare scheme without metadata; none if a token cannot help', (t) => {
  const resource = { metadataUrl: 'https://post.example.ch/m', usualScopes: ['api:read'], scopes: ['api:read', 'api:send', 'api:admin'] }
  const weak = new Refusal('insufficient_scope', '', { details: { required_scope: 'api:send' } })
  t.is(challenge(new Refusal('unauthorized', ''), undefined, true), 'Bearer')
  t.is(challenge(weak, undefined, true), undefined)
  t.is(
    challenge(weak, resource, true),
    'Bearer error="insufficient_scope", scope="api:read api:send", resource_metadata="https://post.example.ch/m"',
  )
  t.is(challenge(new Refusal('insufficient_scope', ''), resource, true), undefined)
  t.is(challenge(new Refusal('not_found', ''), resource, true), undefined)
})
