/** Postoffice mappings of MailEnable. Spec "Bounce and complaint ingestion". */
import type { Action } from '../../actions/action.ts'
import { resource } from '../../actions/resource.ts'
import { newPostofficeMapping, postofficeMapping, postofficeMappingChanges } from '../../wire/feedback/ingest-source.ts'
import { id } from '../../wire/fields/text.ts'
import type { RestCore } from '../rest-core.ts'

const all = resource('/v1/mailenable/postoffice-mappings', { name: 'PostofficeMapping', tags: ['ingest'], feature: 'bounce_sources' })

export const postofficeMappingActions = ({ ingest: { mappings } }: RestCore): readonly Action[] => [
  all.list({
    summary: 'List postoffice mappings, newest first',
    filter: { bounce_source_config_id: id.optional() },
    item: postofficeMapping,
    run: ({ principal }, { bounceSourceConfigId: sourceId, ...page }) => mappings.list(principal, { ...page, sourceId }),
  }),
  all.create({
    summary: 'Create a postoffice mapping',
    description:
      'Assigns the events of a postoffice to a project. Once a source has a mapping, events of postoffices without one are dropped.',
    input: newPostofficeMapping,
    output: postofficeMapping,
    examples: { input: { bounce_source_config_id: 'src_0198c2', postoffice_name: 'example.com' } },
    run: ({ principal }, { bounceSourceConfigId: sourceId, postofficeName: postoffice, ...rest }) =>
      mappings.create(principal, { sourceId, postoffice, ...rest }),
  }),
  all.read({
    summary: 'Get a postoffice mapping',
    output: postofficeMapping,
    run: ({ principal }, { id }) => mappings.get(principal, id),
  }),
  all.change({
    summary: 'Update a postoffice mapping',
    input: postofficeMappingChanges,
    output: postofficeMapping,
    run: ({ principal }, { id, ...changes }) => mappings.update(principal, id, changes),
  }),
  all.remove({
    summary: 'Delete a postoffice mapping',
    description: 'Idempotent. Once the last mapping is deleted, all events of the source belong to the whole organization again.',
    errors: ['conflict'],
    run: ({ principal }, { id }) => mappings.remove(principal, id),
  }),
]
