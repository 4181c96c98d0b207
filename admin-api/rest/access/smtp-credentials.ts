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

const credentials = resource('/v1/smtp-credentials', { name: 'SmtpCredential', tags: ['smtp credentials'], feature: 'smtp_relay' })

export const smtpCredentialActions = ({ smtpCredentials, connectionTest }: RestCore): readonly Action[] => [
  credentials.list({
    summary: 'List SMTP credentials, newest first',
    item: smtpCredential,
    run: ({ principal }, page) => smtpCredentials.list(principal, page),
  }),
  credentials.read({
    summary: 'Get an SMTP credential',
    output: smtpCredential,
    run: ({ principal }, { id }) => smtpCredentials.get(principal, id),
  }),
  credentials.act('test-connection', {
    summary: 'Test an SMTP credential',
    description:
      'Checks whether the credential could send now, without sending a message. For a live destination, the test connects to the provider and signs in.',
    scope: 'api:send',
    errors: ['not_found'],
    output: testResult,
    run: ({ principal, signal }, { id }) => connectionTest.ofCredential(principal, id, signal),
  }),
  credentials.create({
    summary: 'Create an SMTP credential',
    description: 'A user name and password for SMTP submission. Only this response contains the password.',
    errors: ['not_found', 'conflict', 'quota_exhausted'],
    input: newSmtpCredential,
    output: smtpCredentialWithSecret,
    examples: { input: { label: 'Shop', allowed_from_domains: ['example.ch'] } },
    run: ({ principal }, credential) => smtpCredentials.create(principal, credential),
  }),
  credentials.act('rotate', {
    summary: 'Rotate an SMTP credential',
    description:
      'The old user name and password stop authenticating immediately, in open sessions too. Only this response contains the new password.',
    output: smtpCredentialWithSecret,
    run: ({ principal }, { id }) => smtpCredentials.rotate(principal, id),
  }),
  credentials.change({
    summary: 'Update an SMTP credential',
    description: 'Fields that are left out keep their values. With project_id, the credential moves to another project.',
    input: smtpCredentialChanges,
    output: changedSmtpCredential,
    run: ({ principal }, { id, ...changes }) => smtpCredentials.update(principal, id, changes),
  }),
  credentials.remove({
    id: 'revokeSmtpCredential',
    feature: 'always',
    summary: 'Revoke an SMTP credential',
    description: 'Idempotent: revoking a credential again changes nothing.',
    errors: ['conflict'],
    run: ({ principal }, { id }) => smtpCredentials.revoke(principal, id),
  }),
]
