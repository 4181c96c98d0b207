/** Tools for the partitions of the agent’s project. Spec "Project rules" 9. */
import * as z from 'zod'
import { action, type Action } from '../../actions/action.ts'
import { pageEncoder } from '../../wire/fields/paging.ts'
import { id, nameLine } from '../../wire/fields/text.ts'
import { project } from '../../wire/organization/project.ts'
import type { RestCore } from '../rest-core.ts'

const about = { tags: ['projects'], feature: 'tenant_partitions' } as const
const toolset = 'partitions'
const maxListed = 200
const cap = z
  .int()
  .min(0)
  .max(1_000_000_000)
  .nullable()
  .meta({ description: 'Sends per UTC day; null means no separate cap, and the limit of the plan applies.' })

const creating: Action<RestCore> = action({
  ...about,
  id: 'createPartition',
  summary: 'Create a partition',
  scope: 'api:admin',
  input: z.strictObject({ name: nameLine(100), send_cap_override: cap.optional() }),
  output: project,
  tool: {
    name: 'project_sub_create',
    toolset,
    description:
      'Create a partition of this project for one tenant, with separate destinations, traces and daily send cap. A partition ' +
      'cannot have partitions. Its sends count toward the plan of the organization. Next: project_sub_set_quota to change the ' +
      'cap.',
  },
  run: ({ core, principal }, { name, sendCapOverride: sendBudget }) =>
    core.projects.create(principal, { name, parentId: principal.projectId, ...(sendBudget !== undefined && { sendBudget }) }),
})

const listing: Action<RestCore> = action({
  ...about,
  id: 'listPartitions',
  summary: 'List partitions',
  scope: 'api:read',
  input: z.strictObject({}),
  output: pageEncoder(project),
  tool: {
    name: 'project_sub_list',
    toolset,
    description:
      'List the partitions of this project, newest first, with their sends today and caps. For the project itself use account_status.',
  },
  run: ({ core, principal }) => core.projects.list(principal, { limit: maxListed, parentId: principal.projectId }),
})

const deleting: Action<RestCore> = action({
  ...about,
  id: 'deletePartition',
  summary: 'Delete a partition',
  scope: 'api:admin',
  input: z.strictObject({ sub_project_id: id }),
  tool: {
    name: 'project_sub_delete',
    toolset,
    description:
      'Permanently delete a partition with its destinations, keys, traces, captured messages and queued mail. It cannot be ' +
      'restored: ask the user, naming the partition, first. To stop its sends only, use project_sub_set_quota with 0.',
    hints: { destructive: true },
  },
  run: ({ core, principal }, { subProjectId }) => core.projects.remove(principal, subProjectId, { discardQueued: true }),
})

const capping: Action<RestCore> = action({
  ...about,
  id: 'capPartition',
  summary: 'Set the daily cap of a partition',
  scope: 'api:admin',
  input: z.strictObject({ sub_project_id: id, send_cap_override: cap }),
  output: project,
  tool: {
    name: 'project_sub_set_quota',
    toolset,
    description:
      'Set the maximum number of messages per day of a partition; null removes its cap, and the limit of the plan applies; 0 ' +
      'stops it. Find ids with project_sub_list.',
    hints: { idempotent: true },
  },
  run: ({ core, principal }, { subProjectId, sendCapOverride }) =>
    core.projects.update(principal, subProjectId, { sendBudget: sendCapOverride }),
})

export const partitionTools: readonly Action<RestCore>[] = [creating, listing, deleting, capping]
