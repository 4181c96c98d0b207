/** Requests for every cell of the table of organization actions. They show the reach of a caller, and use their own rows. */
import type { OrganizationActName } from '#core/access/principal/organization-acts.ts'
import { optOuts } from '#core/feedback/suppression/opt-out.ts'
import { observed } from '#core/findings/finding.ts'
import type { FindingKind } from '#core/findings/kinds.ts'
import { openFindings } from '../insights/finding-requests.ts'
import { addApplication, addOptOut } from '../fixture/stored-rows.ts'
import type { Request } from '../fixture/requests.ts'
import { addDestination, type Fixture } from '../fixture/rest-fixture.ts'

type Given = Omit<Request, 'outsider'>

/** An operation on a resource of the organization or of another project, and the same operation on a resource of the own project. */
export interface Probe {
  readonly id: string
  readonly foreign: Given
  readonly own?: Given
  /** Texts in the answer that show the resources. If missing, the status decides. */
  readonly shows?: { readonly foreign: string; readonly own?: string; readonly match?: string }
  /** Returns whether the operation had an effect, for operations whose answer does not show it. */
  readonly took?: (which: 'foreign' | 'own', answer: string) => Promise<boolean>
}

export interface ProbedWorld extends Fixture {
  /** The project that project keys and tokens are bound to; `other` is another project. */
  readonly own: string
  readonly other: string
  /** Returns a name that no existing row has. */
  readonly fresh: (what: string) => string
}

type Probes = (world: ProbedWorld) => Promise<readonly Probe[]>

const byId = (id: string): Given => ({ params: { id } })
const nothing: Given = {}

const idOf = async ({ rest }: ProbedWorld, path: string, body: object): Promise<string> =>
  String((await rest.must('POST', path, body))['id'])
const isGone = async ({ rest }: ProbedWorld, path: string): Promise<boolean> => (await rest.call('GET', path)).status === 404

const domain = (world: ProbedWorld): Promise<string> => idOf(world, '/v1/domains', { domain: `${world.fresh('d')}.example.ch` })
const channel = (world: ProbedWorld): Promise<string> =>
  idOf(world, '/v1/alert-channels', { kind: 'slack', name: world.fresh('c'), target: { url: 'https://hooks.example.ch/x' } })
const team = (world: ProbedWorld): Promise<string> => idOf(world, '/v1/organizations', { name: world.fresh('Team') })
const source = (world: ProbedWorld): Promise<string> => idOf(world, '/v1/ingest-sources', { provider: 'mailenable' })
const key = (world: ProbedWorld, more = {}): Promise<string> =>
  idOf(world, '/v1/api-keys', { name: world.fresh('key'), scopes: ['api:read'], ...more })
const invitation = (world: ProbedWorld): Promise<string> =>
  idOf(world, '/v1/invitations', { email: `${world.fresh('invited')}@example.ch`, role: 'viewer' })
const member = (world: ProbedWorld): Promise<string> => world.addMember(`${world.fresh('member')}@example.ch`, 'viewer')
const suppression = (world: ProbedWorld, project_id?: string): Promise<string> =>
  idOf(world, '/v1/suppressions', { email: `${world.fresh('s')}@example.ch`, project_id })
const mapping = async (world: ProbedWorld, project_id: string): Promise<string> =>
  idOf(world, '/v1/mailenable/postoffice-mappings', {
    ...{ bounce_source_config_id: await source(world), postoffice_name: world.fresh('office'), project_id },
  })

/** Opens a finding of the whole organization. */
async function finding(world: ProbedWorld, kind: FindingKind): Promise<string> {
  const { daemon, organizationId, fresh } = world
  const [id = ''] = await openFindings(daemon, organizationId, [observed(kind, fresh('f'))], fresh('check'))
  return id
}

const foundBy = (id: string): readonly Probe[] => [
  { id: 'listFindings', foreign: { query: 'limit=200' }, shows: { foreign: id } },
  { id: 'getFinding', foreign: byId(id) },
]

async function shared(world: ProbedWorld): Promise<string> {
  const id = await addDestination(world.rest, { name: world.fresh('Shared') })
  await world.rest.must('PATCH', `/v1/destinations/${id}`, { scope: 'org' })
  return id
}

/** Adds an entry of the organization and an entry of another project, each with an entry of the own project. */
async function suppressions(world: ProbedWorld): Promise<readonly { readonly foreign: string; readonly own: string }[]> {
  const of = async (project?: string) => ({ foreign: await suppression(world, project), own: await suppression(world, world.own) })
  return [await of(), await of(world.other)]
}

const people: Pick<
  Record<OrganizationActName, Probes>,
  'members.read' | 'members.change' | 'keys.read' | 'keys.change' | 'applications.change'
> = {
  'members.read': async (world) => [
    { id: 'listMembers', foreign: nothing, shows: { foreign: await member(world) } },
    { id: 'listInvitations', foreign: nothing, shows: { foreign: await invitation(world) } },
  ],
  'members.change': async (world) => [
    { id: 'createInvitation', foreign: { body: { email: `${world.fresh('new')}@example.ch`, role: 'viewer' } } },
    { id: 'resendInvitation', foreign: byId(await invitation(world)) },
    { id: 'revokeInvitation', foreign: byId(await invitation(world)) },
    { id: 'updateMember', foreign: { ...byId(await member(world)), body: { role: 'developer' } } },
    { id: 'deleteMember', foreign: byId(await member(world)) },
  ],
  'keys.read': async (world) => {
    const id = await key(world)
    return [
      { id: 'listApiKeys', foreign: nothing, shows: { foreign: id } },
      { id: 'getApiKey', foreign: byId(id) },
    ]
  },
  'keys.change': async (world) => [
    {
      ...{ id: 'createApiKey', foreign: { body: { name: 'x', scopes: ['api:read'] } } },
      took: async (_which, answer) => /"project_?[iI]d":null/.test(answer),
    },
    { id: 'updateApiKey', foreign: { ...byId(await key(world)), body: { name: 'Mine' } } },
    { id: 'revokeApiKey', foreign: byId(await key(world)) },
  ],
  'applications.change': async (world) => {
    const id = await addApplication(world.database, world.organizationId, world.own, await member(world))
    return [
      { id: 'listApplications', foreign: nothing, shows: { foreign: id } },
      { id: 'revokeApplication', foreign: byId(id) },
    ]
  },
}

const organization: Pick<
  Record<OrganizationActName, Probes>,
  | 'organization.read'
  | 'organization.change'
  | 'teams.read'
  | 'teams.change'
  | 'billing.read'
  | 'projects.read'
  | 'projects.create'
  | 'findings.read'
  | 'findings.mark'
  | 'audit.read'
> = {
  'organization.read': async ({ organizationId }) => [{ id: 'getOrganization', foreign: byId(organizationId) }],
  'organization.change': async (world) => [
    { id: 'updateOrganization', foreign: { ...byId(world.organizationId), body: { name: world.fresh('Name') } } },
  ],
  'teams.read': async (world) => {
    const id = await team(world)
    return [
      { id: 'listOrganizations', foreign: nothing, shows: { foreign: id } },
      { id: 'getOrganization', foreign: byId(id) },
    ]
  },
  'teams.change': async (world) => [
    { id: 'createOrganization', foreign: { body: { name: world.fresh('Team') } } },
    { id: 'updateOrganization', foreign: { ...byId(await team(world)), body: { name: world.fresh('Team') } } },
    { id: 'deleteOrganization', foreign: byId(await team(world)) },
  ],
  'billing.read': async (world) => [
    ...['getUsage', 'getCredits', 'listCreditEntries', 'listInvoices', 'previewInvoice'].map((id) => ({ id, foreign: nothing })),
    ...foundBy(await finding(world, 'quota.used')),
  ],
  'projects.read': async ({ own, other }) => [
    { id: 'listProjects', foreign: nothing, shows: { foreign: other, own } },
    { id: 'getProject', foreign: byId(other), own: byId(own) },
  ],
  'projects.create': async (world) => [
    {
      id: 'createProject',
      foreign: { body: { name: world.fresh('Project') } },
      own: { body: { name: world.fresh('Part'), parent_id: world.own } },
    },
  ],
  'findings.read': async (world) => foundBy(await finding(world, 'domain.spf')),
  'findings.mark': async (world) => {
    const given = byId(await finding(world, 'domain.spf'))
    const until = new Date(world.clock.now() + 3_600_000).toISOString()
    return [
      { id: 'acknowledgeFinding', foreign: given },
      { id: 'muteFinding', foreign: { ...given, body: { until } } },
    ]
  },
  'audit.read': async (world) => [
    {
      ...{ id: 'listAuditEntries', foreign: { query: 'limit=200' } },
      shows: { foreign: await domain(world), own: await addDestination(world.rest, { project_id: world.own }) },
    },
  ],
}

const sending: Pick<
  Record<OrganizationActName, Probes>,
  'domains.read' | 'domains.change' | 'destinations.read' | 'destinations.change'
> = {
  'domains.read': async (world) => {
    const id = await domain(world)
    return [
      { id: 'listDomains', foreign: nothing, shows: { foreign: id } },
      { id: 'getDomain', foreign: byId(id) },
      { id: 'getDomainRecords', foreign: byId(id) },
    ]
  },
  'domains.change': async (world) => [
    { id: 'createDomain', foreign: { body: { domain: `${world.fresh('n')}.example.ch` } } },
    {
      ...{ id: 'verifyDomain', foreign: byId(await domain(world)) },
      took: async (_which, answer) => /"checked_at":"/.test(answer),
    },
    { id: 'rotateDomainDkim', foreign: byId(await domain(world)) },
    { id: 'deleteDomain', foreign: byId(await domain(world)) },
  ],
  'destinations.read': async (world) => {
    const id = await shared(world)
    return [
      { id: 'listDestinations', foreign: nothing, shows: { foreign: id } },
      { id: 'getDestination', foreign: byId(id) },
    ]
  },
  'destinations.change': async (world) => [
    { id: 'updateDestination', foreign: { ...byId(await shared(world)), body: { name: 'Mine' } } },
    { id: 'updateDestinationMode', foreign: { ...byId(await shared(world)), body: { mode: 'live' } } },
    { id: 'promoteDestinationToLive', foreign: byId(await shared(world)) },
    { id: 'collectDestinationEvidence', foreign: { ...byId(await shared(world)), body: {} } },
    {
      id: 'updateDestination',
      foreign: { ...byId(await addDestination(world.rest, { project_id: world.own })), body: { scope: 'org' } },
    },
    { id: 'deleteDestination', foreign: byId(await shared(world)) },
  ],
}

const feedback: Pick<
  Record<OrganizationActName, Probes>,
  | 'suppressions.read'
  | 'suppressions.match'
  | 'suppressions.add'
  | 'suppressions.change'
  | 'suppressions.import'
  | 'unsubscribes.read'
  | 'unsubscribes.end'
  | 'sources.read'
  | 'sources.input'
  | 'sources.change'
  | 'mappings.read'
  | 'mappings.change'
  | 'alerts.read'
  | 'alerts.change'
> = {
  'suppressions.read': async (world) =>
    (await suppressions(world)).flatMap(({ foreign, own }) => [
      { id: 'listSuppressions', foreign: { query: 'limit=200' }, shows: { foreign, own } },
      { id: 'exportSuppressions', foreign: nothing, shows: { foreign, own } },
      { id: 'getSuppression', foreign: byId(foreign), own: byId(own) },
    ]),
  'suppressions.match': async (world) =>
    Promise.all(
      (await suppressions(world)).map(async ({ foreign }) => {
        const { email } = await world.rest.must('GET', `/v1/suppressions/${foreign}`)
        return { id: 'matchSuppression', foreign: { query: `address=${String(email)}` }, shows: { foreign, match: '"match":true' } }
      }),
    ),
  'suppressions.add': async (world) => [
    {
      id: 'createSuppression',
      foreign: { body: { email: `${world.fresh('a')}@example.ch`, project_id: world.other } },
      own: { body: { email: `${world.fresh('a')}@example.ch`, project_id: world.own } },
    },
  ],
  'suppressions.change': async (world) => [
    ...(await suppressions(world)).map(({ foreign, own }) => ({
      id: 'updateSuppression',
      foreign: { ...byId(foreign), body: { reason: 'Mine' } },
      own: { ...byId(own), body: { reason: 'Mine' } },
    })),
    ...(await suppressions(world)).map((ids) => ({
      ...{ id: 'deleteSuppression', foreign: byId(ids.foreign), own: byId(ids.own) },
      took: (which: 'foreign' | 'own') => isGone(world, `/v1/suppressions/${ids[which]}`),
    })),
  ],
  'suppressions.import': async (world) => [
    { id: 'importSuppressions', foreign: { body: { rows: [{ email: `${world.fresh('i')}@example.ch` }] } } },
    {
      id: 'importServiceSuppressions',
      foreign: { query: `project_id=${world.own}`, body: [{ email: `${world.fresh('i')}@example.ch`, created: 1 }] },
    },
  ],
  'unsubscribes.read': async (world) => {
    const of = (project: string) => addOptOut(world.database, world.organizationId, project, { email: `${world.fresh('u')}@example.ch` })
    const ids = { foreign: await of(world.other), own: await of(world.own) }
    return [{ id: 'listUnsubscribes', foreign: { query: 'limit=200' }, shows: ids }]
  },
  'unsubscribes.end': async (world) => {
    const { database, organizationId } = world
    const of = (project: string) => addOptOut(database, organizationId, project, { email: `${world.fresh('u')}@example.ch` })
    const ids = { foreign: await of(world.other), own: await of(world.own) }
    const took = async (which: 'foreign' | 'own') => (await database.get(optOuts, { organizationId }, ids[which])) === undefined
    return [{ id: 'deleteUnsubscribe', foreign: byId(ids.foreign), own: byId(ids.own), took }]
  },
  'sources.read': async (world) => {
    const id = await source(world)
    return [
      { id: 'listIngestSources', foreign: nothing, shows: { foreign: id } },
      { id: 'getIngestSource', foreign: byId(id) },
    ]
  },
  'sources.input': async () => [{ id: 'getIngestSourceInsight', foreign: nothing }],
  'sources.change': async (world) => [
    { id: 'createIngestSource', foreign: { body: { provider: 'arf' } } },
    { id: 'rotateIngestSourceSecret', foreign: byId(await source(world)) },
    { id: 'revokeIngestSource', foreign: byId(await source(world)) },
  ],
  'mappings.read': async (world) => {
    const ids = { foreign: await mapping(world, world.other), own: await mapping(world, world.own) }
    return [
      { id: 'listPostofficeMappings', foreign: { query: 'limit=200' }, shows: ids },
      { id: 'getPostofficeMapping', foreign: byId(ids.foreign), own: byId(ids.own) },
    ]
  },
  'mappings.change': async (world) => {
    const body = async (project_id: string): Promise<Given> => ({
      body: { bounce_source_config_id: await source(world), postoffice_name: world.fresh('office'), project_id },
    })
    const both = async () => ({ foreign: await mapping(world, world.other), own: await mapping(world, world.own) })
    const [changed, ended] = [await both(), await both()]
    return [
      { id: 'createPostofficeMapping', foreign: await body(world.other), own: await body(world.own) },
      {
        id: 'updatePostofficeMapping',
        foreign: { ...byId(changed.foreign), body: { default_destination_id: '' } },
        own: { ...byId(changed.own), body: { default_destination_id: '' } },
      },
      {
        ...{ id: 'deletePostofficeMapping', foreign: byId(ended.foreign), own: byId(ended.own) },
        took: (which) => isGone(world, `/v1/mailenable/postoffice-mappings/${ended[which]}`),
      },
    ]
  },
  'alerts.read': async (world) => {
    const id = await channel(world)
    return [
      { id: 'listAlertChannels', foreign: { query: 'limit=200' }, shows: { foreign: id } },
      { id: 'getAlertChannel', foreign: byId(id) },
    ]
  },
  'alerts.change': async (world) => [
    { id: 'updateAlertChannel', foreign: { ...byId(await channel(world)), body: { name: 'Mine' } } },
    { id: 'deleteAlertChannel', foreign: byId(await channel(world)) },
  ],
}

export const probes: Readonly<Record<OrganizationActName, Probes>> = { ...people, ...organization, ...sending, ...feedback }
