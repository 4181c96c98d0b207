/** Forms with their drafts and versions. Spec "Form", "Versioning" 3. */
import { tagOf, type CheckedDraft } from '#core/forms/drafts.ts'
import type { NewForm } from '#core/forms/forms.ts'
import { invalid } from '#core/refusals.ts'
import { readHtmlForm } from '#ingest/html/html-form.ts'
import { action, type Action } from '../../actions/action.ts'
import { resource } from '../../actions/resource.ts'
import {
  captchaSecret,
  checkInput,
  definitionCheck,
  definitionDiff,
  diffInput,
  draftInput,
  duplicateInput,
  exportedForm,
  form,
  formChanges,
  formDraft,
  formFilter,
  formVersion,
  formVersionSummary,
  importInput,
  listedForm,
  maxDefinitionBodyBytes,
  newForm,
  publication,
  removal,
  rollbackInput,
  toDefinition,
  versionInput,
} from '../../wire/forms/form.ts'
import { embedSnippet, prefilledLink, prefilledLinkInput, snippetInput } from '../../wire/forms/embedding.ts'
import type { RestCore } from '../rest-core.ts'

const tags = ['forms']
const forms = resource('/v1/forms', { name: 'Form', tags, feature: 'forms', graphql: true })
const http = { maxBodyBytes: maxDefinitionBodyBytes }
const tag = { ETag: { description: 'Identifies the revision, for If-Match.', of: ({ draft }: CheckedDraft) => tagOf(draft) } }

const reading: readonly Action<RestCore>[] = [
  forms.list({
    summary: 'List forms, newest first',
    filter: formFilter,
    item: listedForm,
    tool: {
      name: 'form_list',
      toolset: 'forms',
      arguments: ['status', 'limit'],
      description:
        'List the forms of the project, newest first, with status, version, public_id and number of new submissions. To create ' +
        'a form use form_create.',
    },
    run: ({ core, principal }, query) => core.forms.forms.list(principal, query),
  }),
  forms.read({ summary: 'Get a form', output: listedForm, run: ({ core, principal }, { id }) => core.forms.forms.get(principal, id) }),
]

const making: readonly Action<RestCore>[] = [
  forms.create({
    summary: 'Create a form as a draft',
    description:
      'Starts with a template, with a definition, with the form of an HTML page, or empty. A given definition must be ' +
      'publishable: otherwise it is refused with `definition_invalid`, and `details.errors` names every invalid place.',
    errors: ['not_found', 'definition_invalid'],
    input: newForm,
    output: form,
    examples: { input: { name: 'Contact', template: 'contact' } },
    http,
    run: async ({ core, principal }, { html, ...input }) =>
      core.forms.forms.create(principal, html === undefined ? input : await fromHtml(html, input)),
  }),
  action({
    id: 'importForm',
    summary: 'Create a form from an export',
    description:
      'Accepts the result of `GET /v1/forms/{id}/export-definition` from any instance of this service. The new form is a draft ' +
      'with a new public URL.',
    tags,
    feature: 'forms',
    scope: 'api:admin',
    errors: ['not_found', 'definition_invalid'],
    input: importInput,
    output: form,
    examples: {
      input: { definition: { name: 'Contact', schema: { version: 1, fields: [{ key: 'email', type: 'email', label: 'Email' }] } } },
    },
    http: { ...http, method: 'POST', path: '/v1/forms/import', status: 201 },
    run: ({ core, principal }, { definition, name, projectId }) => {
      const own = typeof definition['name'] === 'string' ? definition['name'].trim() : ''
      return core.forms.forms.create(principal, { name: name ?? own, projectId, definition })
    },
  }),
]

/** Converts the controls of a page to a definition, which is then validated like any other. */
async function fromHtml<I extends Pick<NewForm, 'name' | 'template' | 'definition'>>(html: string, input: I): Promise<I> {
  if (input.template !== undefined || input.definition !== undefined)
    throw invalid([{ path: 'html', message: 'replaces template and definition; give only one of them' }])
  const { fields, submitLabel } = await readHtmlForm(html)
  if (fields.length === 0) throw invalid([{ path: 'html', message: 'contains no form controls' }])
  const settings = submitLabel === undefined ? {} : { settings: { submit_label: submitLabel } }
  return { ...input, definition: { name: input.name, schema: { version: 1, fields }, ...settings } }
}

const keeping: readonly Action<RestCore>[] = [
  forms.change({
    summary: 'Rename a form, or move it to another project',
    description:
      'A published title does not change until the form is published again. A form moves with all its data and keeps its public URLs.',
    errors: ['not_found', 'conflict'],
    input: formChanges,
    output: form,
    async run({ core, principal }, { id, name, projectId }) {
      if (projectId !== undefined) await core.move(principal, { type: 'form', id, projectId })
      return name === undefined ? core.forms.forms.get(principal, id) : core.forms.forms.rename(principal, id, name)
    },
  }),
  forms.change({
    id: 'setFormCaptchaSecret',
    summary: 'Set the captcha secret of a form',
    description: 'For the provider in `settings.captcha` of the definition. Versions and exports never contain the secret.',
    input: captchaSecret,
    output: form,
    examples: { input: { secret: '0x4AAA' } },
    http: { method: 'PUT', path: '/v1/forms/{id}/captcha-secret' },
    run: ({ core, principal }, { id, secret }) => core.forms.forms.setCaptchaSecret(principal, id, secret),
  }),
  forms.remove({
    summary: 'Permanently delete a form',
    description:
      'Deletes the form with its draft, its versions and all its submissions. `confirm` must be its name. To close a form and ' +
      'keep its data, use `POST /v1/forms/{id}/archive`.',
    input: removal,
    run: ({ core, principal }, { id, confirm }) => core.forms.forms.remove(principal, id, confirm),
  }),
  forms.act('duplicate', {
    summary: 'Copy a form',
    description: 'The copy is a draft with the same content and a new public URL.',
    errors: ['not_found'],
    input: duplicateInput,
    output: form,
    http: { emptyBody: {}, status: 201 },
    run: ({ core, principal }, { id, projectId }) => core.forms.forms.duplicate(principal, id, projectId),
  }),
  forms.readOf('export-definition', {
    id: 'exportForm',
    graphql: 'none',
    summary: 'Export the definition of a form',
    description: 'The definition of the draft, as portable JSON without secrets.',
    output: exportedForm,
    run: async ({ core, principal }, { id }) => (await core.forms.drafts.get(principal, id)).draft.definition,
  }),
]

const embedding: readonly Action<RestCore>[] = [
  forms.act('prefilled-link', {
    id: 'makePrefilledFormLink',
    summary: 'Create a link to a prefilled form',
    description:
      'Values of hidden fields with `signed` are only accepted through such a link, so that a visitor cannot set another plan, ' +
      'order or price. Changes nothing.',
    scope: 'api:send',
    errors: ['not_found'],
    input: prefilledLinkInput,
    output: prefilledLink,
    examples: { input: { values: { email: 'ada@example.ch' } } },
    run: ({ core, principal }, { id, values }) => core.forms.prefilledLinks.make(principal, id, values),
  }),
  forms.act('embed-snippet', {
    id: 'makeFormEmbedSnippet',
    summary: 'Create the HTML that embeds a form in a page',
    description: 'Includes the directives that the Content-Security-Policy of that page must allow. Changes nothing.',
    scope: 'api:read',
    errors: ['not_found'],
    input: snippetInput,
    output: embedSnippet,
    examples: { input: { mode: 'script', origin: 'https://www.example.ch' } },
    tool: {
      name: 'form_embed_snippet_generate',
      toolset: 'forms',
      arguments: { form_id: 'id', mode: 'mode' },
      description:
        'Create the HTML that embeds a published form in a page, in html, with the Content-Security-Policy lines that the page ' +
        'must allow; notes list problems. Call it after form_publish; for a form with a fixed recipient in the ' +
        'page itself use email_html_snippet_generate.',
      hints: { readOnly: true },
    },
    run: ({ core, principal }, { id, ...wanted }) => core.forms.snippets.make(principal, id, wanted),
  }),
]

const drafts: readonly Action<RestCore>[] = [
  forms.readOf('draft', {
    summary: 'Get the draft of a form',
    output: formDraft,
    http: { headers: tag },
    run: ({ core, principal }, { id }) => core.forms.drafts.get(principal, id),
  }),
  forms.change({
    id: 'saveFormDraft',
    summary: 'Save the draft of a form',
    description:
      'The body is the complete definition. The draft is saved even if it cannot be published yet; `errors` lists its problems. ' +
      'With the header `If-Match`, the request is refused with `draft_conflict` if the draft has changed since. Visitors see a ' +
      'draft only after it is published.',
    errors: ['not_found', 'draft_conflict', 'conflict'],
    input: draftInput,
    output: formDraft,
    examples: {
      input: { name: 'Contact', schema: { version: 1, fields: [{ key: 'email', type: 'email', label: 'Email', required: true }] } },
    },
    http: {
      ...http,
      method: 'PUT',
      path: '/v1/forms/{id}/draft',
      headers: tag,
      from: { if_match: { header: 'If-Match' } },
    },
    run: ({ core, principal }, { id, ifMatch, ...definition }) => core.forms.drafts.save(principal, id, toDefinition(definition), ifMatch),
  }),
  forms.act('validate', {
    summary: 'Check a definition, or the draft of a form',
    description: 'Saves nothing. Problems are not errors of the request: the status is 200.',
    scope: 'api:read',
    errors: ['not_found'],
    input: checkInput,
    output: definitionCheck,
    http: { ...http, emptyBody: {} },
    run: ({ core, principal }, { id, definition }) => core.forms.drafts.check(principal, id, definition),
  }),
]

const publishing: readonly Action<RestCore>[] = [
  forms.act('publish', {
    summary: 'Publish the draft of a form',
    description:
      'Creates a version, which visitors and embedded forms load from then on. A draft equal to the current version creates no ' +
      'version. An invalid draft is refused with `definition_invalid`, and `details.errors` names every invalid place.',
    errors: ['not_found', 'conflict', 'definition_invalid'],
    input: publication,
    output: form,
    tool: {
      name: 'form_publish',
      toolset: 'forms',
      arguments: { form_id: 'id', note: 'note' },
      description:
        'Publish the draft of a form as its next version: visitors and embedded forms load it at once, so ask the user first. A ' +
        'draft equal to the published version changes nothing. definition_invalid names the problems. Next: form_list shows the ' +
        'number of new submissions.',
      hints: { idempotent: true, openWorld: true },
    },
    http: { emptyBody: {} },
    run: ({ core, principal }, { id, note }) => core.forms.publishing.publish(principal, id, note),
  }),
  forms.act('pause', {
    summary: 'Pause a form',
    description: 'Its public URLs return 404 until it is resumed. Idempotent.',
    output: form,
    run: ({ core, principal }, { id }) => core.forms.publishing.pause(principal, id),
  }),
  forms.act('resume', {
    summary: 'Resume a paused form',
    description: 'Idempotent.',
    output: form,
    run: ({ core, principal }, { id }) => core.forms.publishing.resume(principal, id),
  }),
  forms.act('archive', {
    summary: 'Archive a form',
    description: 'Its public URLs return 404; submissions remain. Idempotent.',
    output: form,
    run: ({ core, principal }, { id }) => core.forms.publishing.archive(principal, id),
  }),
  forms.act('unarchive', {
    summary: 'Restore an archived form',
    description: 'The form is paused, or a draft if it was never published. Idempotent.',
    output: form,
    run: ({ core, principal }, { id }) => core.forms.publishing.unarchive(principal, id),
  }),
]

const versions: readonly Action<RestCore>[] = [
  forms.listOf('versions', {
    summary: 'List the versions of a form, newest first',
    item: formVersionSummary,
    run: ({ core, principal }, query) => core.forms.publishing.versions(principal, query),
  }),
  forms.readOf('versions/{version}', {
    id: 'getFormVersion',
    summary: 'Get a version of a form',
    input: versionInput,
    output: formVersion,
    run: ({ core, principal }, { id, version }) => core.forms.publishing.version(principal, id, version),
  }),
  forms.readOf('versions/{version}/diff', {
    id: 'diffFormVersions',
    graphql: 'none',
    summary: 'Compare two versions of a form',
    description: 'Lists the differences by field from the version `against`, which defaults to the previous version.',
    input: diffInput,
    output: definitionDiff,
    run: ({ core, principal }, { id, version, against }) => core.forms.publishing.diff(principal, id, version, against),
  }),
  forms.act('versions/{version}/rollback', {
    id: 'rollBackForm',
    summary: 'Restore a version of a form',
    description: 'Publishes a new version with the same content. The draft does not change.',
    input: rollbackInput,
    output: form,
    http: { emptyBody: {} },
    run: ({ core, principal }, { id, version, note }) => core.forms.publishing.rollBack(principal, id, version, note),
  }),
]

export const formActions: readonly Action<RestCore>[] = [
  ...reading,
  ...making,
  ...keeping,
  ...embedding,
  ...drafts,
  ...publishing,
  ...versions,
]
