import { Validator } from '@seriousme/openapi-schema-validator'
import test from 'ava'
import { startRig } from './rig.ts'

const expected = [
  'DELETE /v1/api-keys/{id}',
  'DELETE /v1/destinations/{id}',
  'DELETE /v1/domains/{id}',
  'DELETE /v1/failover/policy/{primary_id}',
  'DELETE /v1/messages/scheduled/{trace_id}',
  'DELETE /v1/routing/rules/{id}',
  'DELETE /v1/smtp-credentials/{id}',
  'DELETE /v1/suppressions/{id}',
  'DELETE /v1/templates/{id}',
  'GET /share/traces/{trace_id}',
  'GET /t/c/{token}',
  'GET /t/o/{token}',
  'GET /v1/api-keys',
  'GET /v1/destinations',
  'GET /v1/destinations/presets',
  'GET /v1/destinations/providers',
  'GET /v1/destinations/{id}',
  'GET /v1/destinations/{id}/health',
  'GET /v1/domains',
  'GET /v1/domains/{id}',
  'GET /v1/domains/{id}/records',
  'GET /v1/failover/policy',
  'GET /v1/inboxes',
  'GET /v1/inboxes/{id}',
  'GET /v1/inboxes/{id}/messages',
  'GET /v1/inboxes/{id}/messages/{message_id}',
  'GET /v1/inboxes/{id}/messages/{message_id}/attachments/{index}',
  'GET /v1/inboxes/{id}/messages/{message_id}/raw',
  'GET /v1/messages/scheduled',
  'GET /v1/projects/me',
  'GET /v1/replays',
  'GET /v1/replays/{job_id}',
  'GET /v1/routing/rules',
  'GET /v1/routing/rules/{id}',
  'GET /v1/smtp-credentials',
  'GET /v1/smtp-credentials/{id}',
  'GET /v1/suppressions',
  'GET /v1/suppressions/export',
  'GET /v1/suppressions/{id}',
  'GET /v1/templates',
  'GET /v1/templates/{id}',
  'GET /v1/templates/{id}/versions',
  'GET /v1/templates/{id}/versions/{version}',
  'GET /v1/traces',
  'GET /v1/traces/{trace_id}',
  'PATCH /v1/destinations/{id}',
  'PATCH /v1/destinations/{id}/mode',
  'PATCH /v1/projects/me/no-route-policy',
  'PATCH /v1/routing/rules/{id}',
  'PATCH /v1/smtp-credentials/{id}',
  'PATCH /v1/suppressions/{id}',
  'POST /v1/api-keys',
  'POST /v1/api-keys/{id}/rotate',
  'POST /v1/destinations',
  'POST /v1/destinations/{id}/promote-to-live',
  'POST /v1/destinations/{id}/test',
  'POST /v1/domains',
  'POST /v1/domains/{id}/rotate-dkim',
  'POST /v1/domains/{id}/verify',
  'POST /v1/failover/policy',
  'POST /v1/inboxes/{id}/wait',
  'POST /v1/messages',
  'POST /v1/replays',
  'POST /v1/replays/{job_id}/stop',
  'POST /v1/routing/rules',
  'POST /v1/routing/simulate',
  'POST /v1/smtp-credentials',
  'POST /v1/smtp-credentials/{id}/rotate',
  'POST /v1/smtp-credentials/{id}/test-connection',
  'POST /v1/suppressions',
  'POST /v1/suppressions/bulk-import',
  'POST /v1/templates',
  'POST /v1/templates/{id}/preview',
  'PUT /v1/templates/{id}',
]

test('the OpenAPI document is valid and holds every route', async (t) => {
  const { rest } = await startRig(t)
  const document = (await rest.call('GET', '/openapi.json')).body as { paths: Record<string, Record<string, { security: object[] }>> }
  const result = await new Validator().validate(document)
  t.true(result.valid, JSON.stringify(result.errors))
  const routes = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
  t.deepEqual(routes.filter((route) => / \/(?:v1|share|t)\//.test(route)).toSorted(), expected)
  const open = Object.entries(document.paths).filter(([, methods]) => Object.values(methods).some(({ security }) => security.length === 0))
  t.deepEqual(
    open.map(([path]) => path).filter((path) => /^\/(?:v1|share|t)\//.test(path)),
    ['/share/traces/{trace_id}', '/t/c/{token}', '/t/o/{token}'],
  )
})
