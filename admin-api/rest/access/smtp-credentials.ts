/** SMTP relay credentials. Spec "SMTP credentials". */
import type { Action } from '../../actions/action.ts'
import { resource } from '../../actions/resource.ts'
import {
  changedSmtpCredential,
  connectionTest as testResult,
  smtpCredentialWithSecret,
  newSmtpCredential,
  smtpCredential,
  smtpCredentialChanges,
} from '../../wire/access/smtp-credential.ts'
import type { RestCore } from '../rest-core.ts'

/** An agent uses the project of its token. */
const withoutProject = ({ shape }: { readonly shape: object }): readonly string[] =>
  Object.keys(shape).filter((name) => name !== 'project_id')

const credentials = resource('/v1/smtp-credentials', {
  name: 'SmtpCredential',
  tags: ['smtp credentials'],
  feature: 'smtp_relay',
  graphql: true,
})

const reading: readonly Action<RestCore>[] = [
  credentials.list({
    summary: 'List SMTP credentials, newest first',
    item: smtpCredential,
    tool: {
      name: 'smtp_credential_list',
      toolset: 'smtp',
      description:
        'List the SMTP logins of the project with their limits and destinations; never passwords. Next: ' +
        'smtp_credential_test_connection(id) to check whether a login can send now.',
      arguments: [],
      fixed: { limit: 200 },
    },
    run: ({ core, principal }, page) => core.smtpCredentials.list(principal, page),
  }),
  credentials.read({
    summary: 'Get an SMTP credential',
    output: smtpCredential,
    run: ({ core, principal }, { id }) => core.smtpCredentials.get(principal, id),
  }),
  credentials.act('test-connection', {
    summary: 'Test an SMTP credential',
    description:
      'Checks whether the credential can send now, without sending a message. For a live destination, the test connects to the ' +
      'provider and signs in.',
    scope: 'api:send',
    errors: ['not_found'],
    output: testResult,
    tool: {
      name: 'smtp_credential_test_connection',
      toolset: 'smtp',
      description:
        'Check whether an SMTP login can send now: active, destination found, provider reachable; each with its finding. Sends ' +
        'nothing. To test a provider use email_provider_test.',
      untrusted: ['detail'],
      hints: { readOnly: true, openWorld: true },
    },
    run: ({ core, principal, signal }, { id }) => core.connectionTest.ofCredential(principal, id, signal),
  }),
]

const changing: readonly Action<RestCore>[] = [
  credentials.create({
    summary: 'Create an SMTP credential',
    description: 'A user name and password for SMTP submission. Only this response contains the password.',
    errors: ['not_found', 'conflict', 'quota_exhausted'],
    input: newSmtpCredential,
    output: smtpCredentialWithSecret,
    tool: {
      name: 'smtp_credential_create',
      toolset: 'smtp',
      description:
        'Create a login for SMTP submission, for programs that cannot use REST. The password is in the result once: put it straight ' +
        'into the program, never into chat. Next: smtp_credential_test_connection(id).',
      arguments: withoutProject(newSmtpCredential),
      secrets: ['password'],
    },
    examples: { input: { label: 'Shop', allowed_from_domains: ['example.ch'] } },
    run: ({ core, principal }, credential) => core.smtpCredentials.create(principal, credential),
  }),
  credentials.act('rotate', {
    summary: 'Rotate an SMTP credential',
    tool: {
      name: 'smtp_credential_rotate',
      toolset: 'smtp',
      description:
        'Replace user name and password of an SMTP login; the old ones stop working at once, so ask the user first. The new ' +
        'password is in the result once; never write it into chat. To change settings use smtp_credential_update.',
      secrets: ['password'],
      hints: { destructive: true },
    },
    description:
      'The old user name and password stop authenticating immediately, in open sessions too. Only this response contains the new password.',
    output: smtpCredentialWithSecret,
    run: ({ core, principal }, { id }) => core.smtpCredentials.rotate(principal, id),
  }),
  credentials.change({
    summary: 'Update an SMTP credential',
    description: 'Omitted fields keep their values. With project_id, the credential moves to another project.',
    input: smtpCredentialChanges,
    output: changedSmtpCredential,
    tool: {
      name: 'smtp_credential_update',
      toolset: 'smtp',
      description:
        'Change settings of an SMTP login: label, allowed sender domains, destination, limits, expiry, tracking. Omitted fields ' +
        'keep their values. For a new password use smtp_credential_rotate.',
      arguments: ['id', ...withoutProject(smtpCredentialChanges)],
      hints: { idempotent: true },
    },
    run: ({ core, principal }, { id, ...changes }) => core.smtpCredentials.update(principal, id, changes),
  }),
  credentials.remove({
    id: 'revokeSmtpCredential',
    feature: 'always',
    summary: 'Revoke an SMTP credential',
    tool: {
      name: 'smtp_credential_revoke',
      toolset: 'smtp',
      description:
        'Permanently revoke an SMTP login: programs that use it can no longer send. Ask the user first. To replace ' +
        'only the password use smtp_credential_rotate.',
      hints: { destructive: true, idempotent: true },
    },
    description: 'Idempotent: revoking a credential again changes nothing.',
    errors: ['conflict'],
    run: ({ core, principal }, { id }) => core.smtpCredentials.revoke(principal, id),
  }),
]

export const smtpCredentialActions: readonly Action<RestCore>[] = [...reading, ...changing]
