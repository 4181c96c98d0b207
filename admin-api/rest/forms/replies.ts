/** Replies to submissions. Each reply is sent once, by an explicit call. */
import { action, type Action } from '../../actions/action.ts'
import { resource } from '../../actions/resource.ts'
import { listEncoder } from '../../wire/fields/paging.ts'
import {
  draftKey,
  maxReplyBodyBytes,
  newReply,
  repliesInput,
  reply,
  replyChanges,
  replyPreview,
  sentReply,
} from '../../wire/forms/reply.ts'
import { id } from '../../wire/fields/text.ts'
import type { RestCore } from '../rest-core.ts'

const tags = ['forms']
const forms = resource('/v1/forms', { name: 'Form', tags, feature: 'forms', graphql: true })
const http = { maxBodyBytes: maxReplyBodyBytes }
const one = '/v1/forms/{id}/reply-drafts/{draft_id}'

const previewing: Action<RestCore> = forms.act('submissions/{submission_id}/reply-preview', {
  id: 'previewFormReply',
  graphql: { root: 'query' },
  summary: 'Preview a reply to a submission',
  description:
    'Shows the recipient and the content of the reply, without creating a draft. Refused if variables are missing; the error names ' +
    'them.',
  scope: 'api:read',
  errors: ['not_found', 'conflict', 'feature_disabled'],
  input: newReply,
  output: replyPreview,
  http,
  run: ({ core, principal }, { id: formId, submissionId, ...asked }) => core.forms.replies.preview(principal, formId, submissionId, asked),
})

export const replyActions: readonly Action<RestCore>[] = [
  forms.act('submissions/{submission_id}/reply-drafts', {
    id: 'createFormReplyDraft',
    summary: 'Create a reply draft for a submission',
    description:
      'The recipient is the address of the visitor. The variables of a template are `template_vars`, and `fields` with the ' +
      'answers and `form.name` if the template declares them. Refused if variables are missing; the error names them.',
    scope: 'api:send',
    errors: ['not_found', 'conflict', 'feature_disabled'],
    input: newReply,
    output: reply,
    examples: { input: { subject: 'Your question', text: 'Thank you for your message.' } },
    http: { ...http, status: 201 },
    run: ({ core, principal }, { id: formId, submissionId, ...asked }) => core.forms.replies.create(principal, formId, submissionId, asked),
  }),
  previewing,
  forms.readOf('submissions/{submission_id}/replies', {
    id: 'listFormReplies',
    summary: 'List the replies to a submission, newest first',
    description: 'Drafts have no `trace_id` yet.',
    input: repliesInput,
    output: listEncoder(reply),
    run: ({ core, principal }, { id: formId, submissionId }) => core.forms.replies.list(principal, formId, submissionId),
  }),
  forms.change({
    id: 'updateFormReplyDraft',
    summary: 'Update a reply draft',
    scope: 'api:send',
    input: replyChanges,
    output: reply,
    http: { ...http, path: one },
    run: ({ core, principal }, { id: formId, draftId, ...content }) => core.forms.replies.update(principal, formId, draftId, content),
  }),
  forms.remove({
    id: 'deleteFormReplyDraft',
    summary: 'Delete a reply draft',
    scope: 'api:send',
    input: draftKey,
    http: { path: one },
    run: ({ core, principal }, { id: formId, draftId }) => core.forms.replies.remove(principal, formId, draftId),
  }),
  action({
    id: 'sendFormReply',
    graphql: { field: 'sendFormReply', root: 'mutation' },
    summary: 'Send a reply',
    description:
      'Each draft is sent once: sending it again returns the same trace. Routing, suppressions, budgets and approvals apply as for ' +
      'any send.',
    tags,
    feature: 'forms',
    scope: 'api:send',
    errors: [
      'not_found',
      'conflict',
      'no_route',
      'quota_exhausted_captures',
      'quota_exhausted',
      'project_budget_exhausted',
      'storage_full',
    ],
    input: draftKey.extend({ id }),
    output: sentReply,
    http: { method: 'POST', path: `${one}/send` },
    run: ({ core, principal }, { id: formId, draftId }) => core.forms.replies.send(principal, formId, draftId),
  }),
]
