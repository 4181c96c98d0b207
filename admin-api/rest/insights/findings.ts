/** Findings: problems that the service found in an organization. */
import type { Action } from '../../actions/action.ts'
import { resource } from '../../actions/resource.ts'
import { project } from '../../wire/fields/paging.ts'
import { finding, findingFilter, muteFinding } from '../../wire/insights/finding.ts'
import type { RestCore } from '../rest-core.ts'

const findings = resource('/v1/findings', { name: 'Finding', tags: ['findings'], graphql: true })

export const findingActions: readonly Action<RestCore>[] = [
  findings.list({
    summary: 'List findings, errors first',
    description:
      'Problems that the service found. With a project, the list contains its findings and those of the whole organization. A page can ' +
      'contain fewer entries than `limit`, even zero, and still have a next page.',
    openToBilling: true,
    filter: { project, ...findingFilter },
    item: finding,
    tool: {
      name: 'findings_list',
      toolset: 'operate',
      description:
        'List the problems that the service found for this project, errors first, each with its cause and fix. state=over lists those ' +
        'that ended in the last 30 days. For one message use email_trace_lookup.',
      arguments: ['state', 'severity', 'group'],
      fixed: { limit: 200 },
    },
    run: ({ core, principal }, page) => core.findings.list(principal, page),
  }),
  findings.read({
    summary: 'Get a finding',
    openToBilling: true,
    output: finding,
    run: ({ core, principal }, { id }) => core.findings.get(principal, id),
  }),
  findings.act('acknowledge', {
    summary: 'Acknowledge a finding',
    description: 'Escalations of alerts skip the finding from now on. Acknowledging it again keeps the first acknowledgement.',
    output: finding,
    run: ({ core, principal }, { id }) => core.findings.acknowledge(principal, id),
  }),
  findings.act('mute', {
    summary: 'Mute a finding',
    description: 'Alerts do not repeat the finding before this time. They still report its end.',
    input: muteFinding,
    output: finding,
    run: ({ core, principal }, { id, until }) => core.findings.mute(principal, id, until),
  }),
]
