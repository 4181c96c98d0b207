/** Projects: the project of the key, and all projects. Spec "Destinations, routing, projects", "Project rules". */
import { action, type Action } from '../../actions/action.ts'
import { resource } from '../../actions/resource.ts'
import { deletion } from '../../wire/fields/discard-queued.ts'
import { newProject, noRoutePolicyChoice, project, projectChanges, projectState } from '../../wire/organization/project.ts'
import { id, noInput } from '../../wire/fields/text.ts'
import type { RestCore } from '../rest-core.ts'

const tags = ['projects']
const all = resource('/v1/projects', { name: 'Project', tags, graphql: true })

const own: readonly Action<RestCore>[] = [
  action({
    id: 'getMyProject',
    summary: 'Get the project of the key',
    tags,
    scope: 'api:read',
    errors: ['not_found'],
    input: noInput,
    output: projectState,
    http: { method: 'GET', path: '/v1/projects/me' },
    graphql: { field: 'me', root: 'query' },
    tool: {
      name: 'account_status',
      toolset: 'account',
      description:
        'Get the project of this session: whether it is claimed, its plan, sends today and their cap, the handling of sends ' +
        'without a route, and the progress of a claim. Call it first, and after account_claim until claim_progress.claimed is ' +
        'true.',
    },
    run: ({ core, principal }) => core.projects.me(principal),
  }),
  action({
    id: 'setNoRoutePolicy',
    summary: 'Set the no-route policy',
    description:
      'The policy decides about sends without a matching destination: `capture` captures them, `reject` refuses them, ' +
      '`relay_default` currently behaves like `reject`.',
    tags,
    scope: 'api:admin',
    errors: ['not_found', 'conflict'],
    input: noRoutePolicyChoice,
    output: projectState,
    http: { method: 'PATCH', path: '/v1/projects/me/no-route-policy' },
    graphql: { field: 'setNoRoutePolicy', root: 'mutation', without: ['value'], required: ['no_route_policy'] },
    run: ({ core, principal }, { noRoutePolicy, value }) => core.projects.setNoRoutePolicy(principal, noRoutePolicy ?? value ?? 'capture'),
  }),
]

const reading: readonly Action<RestCore>[] = [
  all.list({
    summary: 'List projects, newest first',
    description: 'A key of one project sees that project and its partitions.',
    filter: { parent_id: id.optional().meta({ description: 'Lists only the partitions of this project.' }) },
    item: project,
    run: ({ core, principal }, page) => core.projects.list(principal, page),
  }),
  all.read({
    summary: 'Get a project',
    output: project,
    run: ({ core, principal }, { id }) => core.projects.get(principal, id),
    runMany: ({ core, principal }, ids) => core.projects.getMany(principal, ids),
  }),
]

const writing: readonly Action<RestCore>[] = [
  all.create({
    summary: 'Create a project, or with `parent_id` a partition',
    description:
      'A new project has a catch-all inbox. A partition has separate destinations, traces and a separate send budget, and cannot ' +
      'have partitions; its sends count toward the plan of the organization, but not toward the budget of its parent.',
    errors: ['not_found', 'conflict', 'feature_disabled'],
    input: newProject,
    output: project,
    examples: { input: { name: 'Newsletter', send_budget: 1000 } },
    run: ({ core, principal }, given) => core.projects.create(principal, given),
  }),
  all.change({
    summary: 'Update a project',
    description: 'Omitted fields keep their values. A key bound to the project can update only its name and no-route policy.',
    errors: ['not_found', 'conflict', 'quota_exhausted'],
    input: projectChanges,
    output: project,
    run: ({ core, principal }, { id, ...changes }) => core.projects.update(principal, id, changes),
  }),
  all.remove({
    summary: 'Delete a project with its partitions',
    description:
      'Destinations, rules, failover policies, templates, SMTP credentials, API keys, inboxes, captures, traces, scheduled sends ' +
      'and replays are deleted with it; none of its mail is sent and none of its data returned after this response. ' +
      'Organization-wide destinations move to the project Default. Refused with `conflict` for the project Default, while SMTP ' +
      'credentials of other projects refer to its destinations, and while mail is queued, unless `discard_queued` is true: then ' +
      'that mail is deleted with the project.',
    input: deletion,
    run: ({ core, principal }, { id, ...mail }) => core.projects.remove(principal, id, mail),
  }),
]

export const projectActions: readonly Action<RestCore>[] = [...own, ...reading, ...writing]
