/**
 * The single table of roles and keys that can see and change resources of the whole organization. The core applies it on every call;
 * `people.md` shows it.
 */
import { Refusal } from '../../refusals.ts'
import { requireScope, type Principal } from './principal.ts'

/**
 * Extent of an action:
 * - `all`: all resources of the organization
 * - `match`: whether a resource exists, and all its fields if it belongs to the caller's project
 * - `own`: resources of the caller's project
 * - `none`: refused, or answered as if no resource existed
 */
export const reaches = ['none', 'own', 'match', 'all'] as const
export type Reach = (typeof reaches)[number]

interface OrganizationAct {
  /** Resource and action, as the documentation names them. */
  readonly what: string
  readonly act: string
  /** Extent for members with the role developer. */
  readonly developer: Reach
  /** Extent for keys and tokens bound to one project, regardless of their creator. */
  readonly bound: Reach
  /** Roles that can also read it. If absent, the roles viewer and billing cannot use the action. */
  readonly reading?: 'viewers' | 'viewers and billing'
}

const visible = { developer: 'all', bound: 'all', reading: 'viewers' } as const
/** Readable by members, not by keys of one project. */
const internal = { developer: 'all', bound: 'none', reading: 'viewers' } as const
/** Only for administrators. */
const administered = { developer: 'none', bound: 'none' } as const
const ofProjects = { developer: 'all', bound: 'own', reading: 'viewers' } as const
/** Administrators, and keys of one project for records that came from their project, as stated in the record's `projectId`. */
const attributed = { developer: 'none', bound: 'own' } as const

// prettier-ignore
const table = {
  'organization.read':    { what: 'Organization and its plan', act: 'read', ...visible, reading: 'viewers and billing' },
  'organization.change':  { what: 'Organization and its plan', act: 'change', ...administered },
  'teams.read':           { what: 'Team organizations', act: 'read', ...internal },
  'teams.change':         { what: 'Team organizations', act: 'create, change and delete', ...administered },
  'members.read':         { what: 'Members and invitations', act: 'read', ...internal },
  'members.change':       { what: 'Members and invitations', act: 'invite, change and remove', ...administered },
  'billing.read':         { what: 'Usage, credits and invoices', act: 'read', ...internal, reading: 'viewers and billing' },
  'keys.read':            { what: 'API keys of the whole organization', act: 'read', ...administered },
  'keys.change':          { what: 'API keys of the whole organization', act: 'create, change and revoke', ...administered },
  'applications.change':  { what: 'Applications of other members', act: 'read and revoke', ...administered },
  'projects.read':        { what: 'Projects', act: 'read', ...ofProjects },
  'projects.create':      { what: 'Projects', act: 'create', developer: 'all', bound: 'own' },
  'domains.read':         { what: 'Sending domains', act: 'read', ...visible },
  'domains.change':       { what: 'Sending domains', act: 'create, verify, rotate and delete', ...administered },
  'destinations.read':    { what: 'Organization-wide destinations', act: 'read and use', ...visible },
  'destinations.change':  { what: 'Organization-wide destinations', act: 'change, promote and delete', ...administered },
  'suppressions.read':    { what: 'Suppressions', act: 'read and export', ...ofProjects },
  'suppressions.match':   { what: 'Suppressions', act: 'ask about one address', ...ofProjects, bound: 'match' },
  'suppressions.add':     { what: 'Suppressions', act: 'add', ...attributed },
  'suppressions.change':  { what: 'Suppressions', act: 'change and delete', ...attributed },
  'suppressions.import':  { what: 'Suppressions', act: 'import', ...administered },
  'unsubscribes.read':    { what: 'Unsubscribes', act: 'read', ...ofProjects },
  'unsubscribes.end':     { what: 'Unsubscribes', act: 'delete', ...attributed },
  'sources.read':         { what: 'Bounce sources', act: 'read', ...visible },
  'sources.input':        { what: 'Bounce sources', act: 'read figures and reports without effect', ...internal },
  'sources.change':       { what: 'Bounce sources', act: 'create, rotate and revoke', ...administered },
  'mappings.read':        { what: 'Postoffice mappings', act: 'read', ...ofProjects },
  'mappings.change':      { what: 'Postoffice mappings', act: 'create, change and delete', ...administered },
  'findings.read':        { what: 'Organization-wide findings', act: 'read', ...visible },
  'findings.mark':        { what: 'Organization-wide findings', act: 'acknowledge and mute', developer: 'all', bound: 'none' },
  'alerts.read':          { what: 'Alert channels of the organization', act: 'read', ...visible },
  'alerts.change':        { what: 'Alert channels of the organization', act: 'create, change and delete', ...administered },
  'audit.read':           { what: 'Audit log', act: 'read', developer: 'all', bound: 'own' },
} as const satisfies Readonly<Record<string, OrganizationAct>>

export type OrganizationActName = keyof typeof table

export const organizationActs: Readonly<Record<OrganizationActName, OrganizationAct>> = table

type Caller = Pick<Principal, 'bound' | 'projectsOnly' | 'billsOnly'>

/** Returns the extent for the principal. Scopes are checked separately, as for every request. */
export function reachOf({ bound, projectsOnly, billsOnly }: Caller, name: OrganizationActName): Reach {
  const act = organizationActs[name]
  if (billsOnly) return act.reading === 'viewers and billing' ? 'all' : 'none'
  const held = [...(bound ? [act.bound] : []), ...(projectsOnly ? [act.developer] : [])]
  return reaches[Math.min(...held.map((reach) => reaches.indexOf(reach)), reaches.length - 1)] ?? 'none'
}

/** Returns the extent for the principal; throws `insufficient_scope` if it is `none`. */
export function requireReach(principal: Principal, name: OrganizationActName): Exclude<Reach, 'none'> {
  const reach = reachOf(principal, name)
  if (reach !== 'none') return reach
  const isBound = principal.bound && organizationActs[name].bound === 'none'
  throw isBound ? useKeyOfOrganization(principal) : askAdministrator()
}

/** Throws `insufficient_scope` unless the principal has the scope `api:admin` and may perform the action. */
export function requireAdministration(principal: Principal, name: OrganizationActName): void {
  requireScope(principal, 'api:admin')
  requireReach(principal, name)
}

function useKeyOfOrganization({ agent }: Principal): Refusal {
  const message = agent
    ? 'This resource belongs to the organization, and this token to one project. Ask the user to connect again and to allow settings of the organization.'
    : 'This resource belongs to the organization. Use a key that is not bound to one project.'
  return new Refusal('insufficient_scope', message, { nextAction: 'use_key_of_organization' })
}

const askAdministrator = (): Refusal =>
  new Refusal('insufficient_scope', 'This resource belongs to the organization. Only an organization administrator can change it.')
