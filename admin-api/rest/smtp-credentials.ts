/** SMTP relay credentials: the seven endpoints. Spec "SMTP credentials". */
import * as z from 'zod'
import type { MintedCredential } from '#core/access/smtp-credentials.ts'
import { noBody } from '../answer.ts'
import { operation, type Operation } from '../operation.ts'
import { pageOf, pagingFields } from '../wire/paging.ts'
import {
  changedCredentialShape,
  mintedCredentialShape,
  newSmtpCredentialBody,
  smtpCredentialChangesBody,
  smtpCredentialShape,
  toCredentialChanges,
  toWireChangedCredential,
  toWireCredential,
} from '../wire/smtp-credential.ts'
import { idParams } from '../wire/text.ts'
import type { RestCore } from './core.ts'

const tags = ['smtp credentials']

const transcriptShape = z
  .object({
    ok: z.boolean(),
    checks: z.array(z.object({ check: z.string(), ok: z.boolean(), detail: z.string(), milliseconds: z.number().optional() })),
  })
  .meta({ id: 'ConnectionTest' })

export const smtpCredentialOperations = (core: RestCore): readonly Operation[] => [...reading(core), ...minting(core), ...changing(core)]

const shown = (minted: MintedCredential) => ({ ...toWireChangedCredential(minted), password: minted.password })

const reading = (core: RestCore): readonly Operation[] => [
  operation({
    method: 'GET',
    path: '/v1/smtp-credentials',
    operationId: 'listSmtpCredentials',
    summary: 'List SMTP credentials, the newest first',
    tags,
    right: 'api:read',
    errors: ['not_found'],
    query: z.strictObject(pagingFields),
    response: pageOf(smtpCredentialShape),
    async handle({ scope, query: { limit, cursor, project } }) {
      const page = await core.smtpCredentials.list(scope, { limit, cursor, projectId: project })
      return { data: page.rows.map(toWireCredential), next_cursor: page.nextCursor ?? null }
    },
  }),
  operation({
    method: 'GET',
    path: '/v1/smtp-credentials/{id}',
    operationId: 'readSmtpCredential',
    summary: 'Read an SMTP credential',
    tags,
    right: 'api:read',
    errors: ['not_found'],
    params: idParams,
    response: smtpCredentialShape,
    handle: async ({ scope, params }) => toWireCredential(await core.smtpCredentials.get(scope, params.id)),
  }),
  operation({
    method: 'POST',
    path: '/v1/smtp-credentials/{id}/test-connection',
    operationId: 'testSmtpCredential',
    summary: 'See whether an SMTP credential could send now',
    description: 'Nothing is sent. For a live destination the provider is connected to, and its login tried.',
    tags,
    right: 'api:send',
    errors: ['not_found'],
    params: idParams,
    response: transcriptShape,
    async handle({ scope, params, signal }) {
      const checks = await core.connectionTest.ofCredential(scope, params.id, signal)
      return { ok: checks.every(({ ok }) => ok), checks: checks.map(withoutGaps) }
    },
  }),
]

const minting = (core: RestCore): readonly Operation[] => [
  operation({
    method: 'POST',
    path: '/v1/smtp-credentials',
    operationId: 'createSmtpCredential',
    summary: 'Make an SMTP credential',
    description: 'User name and password for SMTP submission. The password is in this answer only.',
    tags,
    right: 'api:admin',
    status: 201,
    errors: ['not_found', 'conflict', 'quota_exhausted'],
    body: newSmtpCredentialBody,
    response: mintedCredentialShape,
    examples: { body: { label: 'Shop', allowed_from_domains: ['example.ch'] } },
    async handle({ scope, body }) {
      return shown(await core.smtpCredentials.create(scope, toCredentialChanges(body)))
    },
  }),
  operation({
    method: 'POST',
    path: '/v1/smtp-credentials/{id}/rotate',
    operationId: 'rotateSmtpCredential',
    summary: 'Replace user name and password',
    description: 'The old ones stop authenticating at once, in open sessions too; the new password is in this answer only.',
    tags,
    right: 'api:admin',
    errors: ['not_found', 'conflict'],
    params: idParams,
    response: mintedCredentialShape,
    handle: async ({ scope, params }) => shown(await core.smtpCredentials.rotate(scope, params.id)),
  }),
]

const changing = (core: RestCore): readonly Operation[] => [
  operation({
    method: 'PATCH',
    path: '/v1/smtp-credentials/{id}',
    operationId: 'updateSmtpCredential',
    summary: 'Change an SMTP credential',
    description: 'Only the fields that are given change. With project_id it moves to another project.',
    tags,
    right: 'api:admin',
    errors: ['not_found', 'conflict'],
    params: idParams,
    body: smtpCredentialChangesBody,
    response: changedCredentialShape,
    async handle({ scope, params, body }) {
      return toWireChangedCredential(await core.smtpCredentials.update(scope, params.id, toCredentialChanges(body)))
    },
  }),
  operation({
    method: 'DELETE',
    path: '/v1/smtp-credentials/{id}',
    operationId: 'revokeSmtpCredential',
    summary: 'Revoke an SMTP credential',
    description: 'Idempotent.',
    tags,
    right: 'api:admin',
    status: 204,
    errors: ['conflict'],
    params: idParams,
    response: noBody,
    handle: ({ scope, params }) => core.smtpCredentials.revoke(scope, params.id),
  }),
]

function withoutGaps({
  check,
  ok,
  detail,
  milliseconds,
}: {
  check: string
  ok: boolean
  detail: string
  milliseconds?: number | undefined
}) {
  return { check, ok, detail, ...(milliseconds !== undefined && { milliseconds: Math.round(milliseconds) }) }
}
