/** Postoffice mappings of MailEnable. Spec "Bounce and complaint ingestion". */
import type { Action } from '../actions/action.ts'
import { resource } from '../actions/resource.ts'
import { newPostofficeMapping, postofficeMapping, postofficeMappingChanges } from '../wire/ingest-source.ts'
import { id } from '../wire/text.ts'
import type { RestCore } from './core.ts'

const all = resource('/v1/mailenable/postoffice-mappings', { name: 'PostofficeMapping', tags: ['ingest'], feature: 'bounce_sources' })

export const postofficeMappingActions = ({ ingest: { mappings } }: RestCore): readonly Action[] => [
  all.list({
    summary: 'List postoffice mappings, the newest first',
    filter: { bounce_source_config_id: id.optional() },
    item: postofficeMapping,
    run: ({ principal }, { bounceSourceConfigId: sourceId, ...page }) => mappings.list(principal, { ...page, sourceId }),
  }),
  all.create({
    summary: 'Say whose mail a postoffice sends',
    description: 'From the first mapping of a source on, what comes from postoffices without one is dropped.',
    input: newPostofficeMapping,
    output: postofficeMapping,
    examples: { input: { bounce_source_config_id: 'src_0198c2', postoffice_name: 'example.com' } },
    run: ({ principal }, { bounceSourceConfigId: sourceId, postofficeName: postoffice, ...rest }) =>
      mappings.create(principal, { sourceId, postoffice, ...rest }),
  }),
  all.read({
    summary: 'Read a postoffice mapping',
    output: postofficeMapping,
    run: ({ principal }, { id }) => mappings.get(principal, id),
  }),
  all.change({
    summary: 'Change project or destination of a postoffice mapping',
    input: postofficeMappingChanges,
    output: postofficeMapping,
    run: ({ principal }, { id, ...changes }) => mappings.update(principal, id, changes),
  }),
  all.remove({
    summary: 'End a postoffice mapping',
    description: 'Idempotent. After the last one, everything the source tells belongs to the whole organization again.',
    errors: ['conflict'],
    run: ({ principal }, { id }) => mappings.remove(principal, id),
  }),
]
