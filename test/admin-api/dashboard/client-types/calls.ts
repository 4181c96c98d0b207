/** Calls of the dashboard that the compiler must accept or refuse. `tsc -p admin-api/dashboard/client` checks them; nothing runs them. */
import { readAll, useAll } from '../../../../admin-api/dashboard/client/app/all.ts'
import { call, showCall } from '../../../../admin-api/dashboard/client/app/api.ts'
import { useNews } from '../../../../admin-api/dashboard/client/app/new-entries.ts'
import { useList, useRead } from '../../../../admin-api/dashboard/client/app/query.ts'

export async function accepted(): Promise<readonly [string, number, boolean | undefined, Blob, undefined]> {
  const { data } = await call('/v1/traces', { query: { status: 'failed', limit: 5 } })
  const { id } = await call('POST /v1/webhooks', { body: { name: 'a', target_url: 'https://example.org' } })
  const counts = useRead('/v1/queue/counts', { query: { held: true } })
  const raw = await call('/v1/traces/{trace_id}/message/raw', { path: { trace_id: id } })
  const gone = await call('DELETE /v1/webhooks/{id}', { path: { id } })
  const { rows } = await readAll('/v1/destinations', {})
  useRead('/v1/forms/{id}/versions/{version}', undefined)
  return [rows[0]?.name ?? '', data.length, counts.data && counts.data.held > 0, raw, gone]
}

export async function refused(): Promise<void> {
  // @ts-expect-error: no such path
  await call('/v1/tracess', {})
  // @ts-expect-error: no such method
  await call('PUT /v1/traces', {})
  // @ts-expect-error: the path has a parameter
  await call('/v1/traces/{trace_id}', {})
  // @ts-expect-error: another parameter
  await call('/v1/traces/{trace_id}', { path: { id: 'x' } })
  // @ts-expect-error: no such query field
  await call('/v1/traces', { query: { state: 'failed' } })
  // @ts-expect-error: no such status
  await call('/v1/traces', { query: { status: 'fine' } })
  // @ts-expect-error: a number in place of text
  await call('/v1/traces', { query: { limit: '5' } })
  // @ts-expect-error: a boolean in place of text
  await call('/v1/queue/counts', { query: { held: 'true' } })
  // @ts-expect-error: the operation has no query
  await call('DELETE /v1/webhooks/{id}', { path: { id: 'x' }, query: {} })
  // @ts-expect-error: the body is missing
  await call('POST /v1/webhooks', {})
  // @ts-expect-error: a field of the body is missing
  await call('POST /v1/webhooks', { body: { name: 'a' } })
  // @ts-expect-error: no such field of the body
  await call('POST /v1/webhooks', { body: { name: 'a', target_url: 'https://example.org', url: '' } })
  // @ts-expect-error: the operation has no body
  await call('/v1/traces', { body: {} })
  // @ts-expect-error: no such field of the answer
  void (await call('POST /v1/webhooks', { body: { name: 'a', target_url: 'https://example.org' } })).secret
  // @ts-expect-error: no such field of a row
  void useAll('/v1/destinations', {}).rows[0]?.title
  // @ts-expect-error: the answer has no pages
  useList('/v1/traces/counts', {})
  // @ts-expect-error: a wrong filter of a list
  useAll('/v1/destinations', { query: { kind: 'smtp' } })
  // @ts-expect-error: the rows of another list
  useNews({ list: 'captures', route: '/v1/webhooks/attempts', input: {}, rows: [{ name: 'a' }] })
  // @ts-expect-error: no such path
  showCall('/v1/form', {})
}
