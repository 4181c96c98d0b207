/** Bulk replays: create or preview, list, get, cancel. Spec "Bulk replay job". */
import type { Action } from '../../actions/action.ts'
import { resource } from '../../actions/resource.ts'
import { newReplay, replay } from '../../wire/sending/replay.ts'
import type { RestCore } from '../rest-core.ts'

const jobs = resource('/v1/replays', { name: 'Replay', tags: ['replays'], feature: 'bulk_replay', graphql: true, key: 'job_id' })

/** Fields that may quote the servers that refused. */
const problemFields = ['problems', 'stopped_because']

export const replayActions: readonly Action<RestCore>[] = [
  jobs.create({
    summary: 'Create a replay',
    description:
      'Queues failed messages again for the recipients that no server has accepted. The replay runs in the background; get it to ' +
      'follow its progress. Each message counts as a send toward the limits of the plan and the budget of the project.',
    scope: 'api:send',
    errors: ['not_found', 'conflict', 'feature_disabled'],
    input: newReplay,
    output: replay,
    tool: {
      name: 'email_bulk_replay',
      toolset: 'scheduled',
      description:
        'Send all failed messages that match a filter again to recipients that no server has accepted. First ' +
        'call email_traces_search with the same filter and status failed, and agree on the number with the user. ' +
        'Next: email_bulk_replay_status(job_id).',
      arguments: ['filter', 'target_destination_id'],
      untrusted: problemFields,
      hints: { openWorld: true },
    },
    examples: {
      input: { filter: { destination_id: 'dst_01935c0000007000800000000000000000', since: '2026-11-21T08:00:00Z' }, dry_run: true },
    },
    http: {
      otherResponses: { 200: 'A dry run: the number of messages that match the filter' },
      statusOf: (made) => ('matched' in made ? 200 : undefined),
    },
    run: async ({ core, principal }, { dryRun, ...request }) =>
      dryRun ? { ...request, ...(await core.replays.preview(principal, request)) } : core.replays.create(principal, request),
  }),
  jobs.list({
    summary: 'List replays, newest first',
    description:
      'With `project`, lists only replays limited to this project. A page can contain fewer replays than `limit` and still have ' +
      'a next page.',
    item: replay,
    run: ({ core, principal }, page) => core.replays.list(principal, page),
  }),
  jobs.read({
    summary: 'Get a replay with its counters',
    output: replay,
    tool: {
      name: 'email_bulk_replay_status',
      toolset: 'scheduled',
      description:
        'Get the progress of a bulk replay: messages examined, replayed, skipped and refused, with the latest problems. Repeat ' +
        'every few seconds while its status is running.',
      untrusted: problemFields,
    },
    run: ({ core, principal }, { jobId }) => core.replays.get(principal, jobId),
  }),
  jobs.act('stop', {
    summary: 'Cancel a replay',
    description: 'No further message is queued; messages already queued are delivered. A finished replay does not change.',
    scope: 'api:send',
    errors: ['not_found'],
    output: replay,
    run: ({ core, principal }, { jobId }) => core.replays.stop(principal, jobId),
  }),
]
