/** Postoffice mappings of MailEnable. Spec "Bounce and complaint ingestion". */
import type { Action } from '../../actions/action.ts'
import { resource } from '../../actions/resource.ts'
import { newPostofficeMapping, postofficeMapping, postofficeMappingChanges } from '../../wire/feedback/ingest-source.ts'
import { id } from '../../wire/fields/text.ts'
import type { RestCore } from '../rest-core.ts'

const all = resource('/v1/mailenable/postoffice-mappings', {
  ...{ name: 'PostofficeMapping', tags: ['ingest'], feature: 'bounce_sources' },
  graphql: true,
})

export const postofficeMappingActions: readonly Action<RestCore>[] = [
  all.list({
    summary: 'List postoffice mappings, newest first',
    filter: {
      project: id.optional().meta({ description: 'Lists only mappings to this project.' }),
      bounce_source_config_id: id.optional(),
    },
    item: postofficeMapping,
    tool: {
      name: 'mailenable_postoffice_map_list',
      toolset: 'bounces',
      description:
        'List the project of each mapped MailEnable postoffice. Without mappings, all events of a source belong to the ' +
        'organization. Find sources with bounce_source_list.',
      arguments: ['bounce_source_config_id'],
      fixed: { limit: 200 },
      reachesOrganization: true,
    },
    run: ({ core, principal }, { bounceSourceConfigId: sourceId, ...page }) => core.ingest.mappings.list(principal, { ...page, sourceId }),
  }),
  all.create({
    summary: 'Create a postoffice mapping',
    description:
      'Assigns the events of a postoffice to a project. If a source has at least one mapping, events of postoffices without a ' +
      'mapping are dropped.',
    input: newPostofficeMapping,
    output: postofficeMapping,
    tool: {
      name: 'mailenable_postoffice_map_create',
      toolset: 'bounces',
      description:
        'Assign the bounces of one MailEnable postoffice to a project. From the first mapping of a source on, events of ' +
        'postoffices without a mapping are dropped. Postoffice and source cannot be changed later; delete the mapping instead.',
      reachesOrganization: true,
    },
    examples: { input: { bounce_source_config_id: 'src_0198c2', postoffice_name: 'example.com' } },
    run: ({ core, principal }, { bounceSourceConfigId: sourceId, postofficeName: postoffice, ...rest }) =>
      core.ingest.mappings.create(principal, { sourceId, postoffice, ...rest }),
  }),
  all.read({
    summary: 'Get a postoffice mapping',
    output: postofficeMapping,
    run: ({ core, principal }, { id }) => core.ingest.mappings.get(principal, id),
  }),
  all.change({
    summary: 'Update a postoffice mapping',
    input: postofficeMappingChanges,
    output: postofficeMapping,
    run: ({ core, principal }, { id, ...changes }) => core.ingest.mappings.update(principal, id, changes),
  }),
  all.remove({
    summary: 'Delete a postoffice mapping',
    tool: {
      name: 'mailenable_postoffice_map_delete',
      toolset: 'bounces',
      description:
        'Delete a postoffice mapping. After the deletion of its last mapping, all events of a source belong to the whole ' +
        'organization again. Find ids with mailenable_postoffice_map_list.',
      reachesOrganization: true,
      hints: { destructive: true, idempotent: true },
    },
    description: 'Idempotent. After the deletion of its last mapping, all events of the source belong to the whole organization again.',
    errors: ['conflict'],
    run: ({ core, principal }, { id }) => core.ingest.mappings.remove(principal, id),
  }),
]
