/** All screens: path, shortcut and code, which loads on first use. */
import type { ComponentType } from 'preact'
import { boot } from '../app/boot.ts'
import { organization } from '../app/location.ts'
import { mayChange, mayRead } from '../app/permissions.ts'
import type { IconName } from '../parts/icon.tsx'
import type { ScreenProps } from '../app/screen-props.ts'
import type { ShellTexts } from '../texts/shell-texts.ts'

type Load = () => Promise<{ readonly default: ComponentType<ScreenProps> }>

export interface Screen {
  /** First path segment. Empty for the start screen. */
  readonly name: string
  readonly label: (texts: ShellTexts) => string
  /** Short label for the bottom bar, if the label is wider than a fifth of 320 px. */
  readonly short?: (texts: ShellTexts) => string
  readonly icon: IconName
  readonly group: 'mail' | 'delivery' | 'content' | 'access' | 'foot' | 'none'
  /** Matches paths of this screen that begin with the name of another screen. */
  readonly has?: RegExp
  /** Start path, if it is not the name. */
  readonly at?: string
  /** Whether anonymous visitors can open the screen. */
  readonly isOpen?: boolean
  /** Whether the screen is about the signed-in user and requires no role. */
  readonly isPersonal?: boolean
  /** Whether the billing role, which cannot read projects, can open the screen. */
  readonly isForBilling?: boolean
  /** Whether read-only roles cannot list the resources of the screen. The screen then explains the missing permission. */
  readonly isForChanging?: boolean
  /** Second key after `g`. */
  readonly key: string
  /** Label of the creation form at `?new=1`, for roles that may create. */
  readonly makes?: (texts: ShellTexts) => string
  /** Whether only administrators may create. */
  readonly isForAdministrators?: boolean
  /** Parts of the screen that the palette lists by name. */
  readonly areas?: readonly { readonly at: string; readonly label: (texts: ShellTexts) => string }[]
  readonly load: Load
}

const all: readonly Screen[] = [
  {
    name: '',
    label: (w) => w.overview,
    short: (w) => w.overviewShort,
    icon: 'overview',
    group: 'mail',
    key: 'h',
    load: () => import('../overview/overview.tsx'),
  },
  { name: 'insights', label: (w) => w.insights, icon: 'usage', group: 'mail', key: 'n', load: () => import('../insights/insights.tsx') },
  { name: 'traces', label: (w) => w.traces, icon: 'traces', group: 'mail', key: 't', load: () => import('../traces/traces.tsx') },
  { name: 'captures', label: (w) => w.captures, icon: 'captures', group: 'mail', key: 'i', load: () => import('../captures/captures.tsx') },
  { name: 'queue', label: (w) => w.queue, icon: 'queue', group: 'mail', key: 'q', load: () => import('../queue/queue.tsx') },
  {
    name: 'scheduled',
    label: (w) => w.scheduled,
    icon: 'scheduled',
    group: 'mail',
    key: 'l',
    load: () => import('../scheduled/scheduled.tsx'),
  },
  {
    name: 'inspect',
    label: (w) => w.inspect,
    icon: 'inspect',
    group: 'mail',
    key: 'e',
    load: () => import('../inspect/inspect.tsx'),
  },
  {
    name: 'replays',
    label: (w) => w.replays,
    icon: 'replay',
    group: 'mail',
    key: 'v',
    makes: (w) => w.newReplay,
    load: () => import('../replays/replays.tsx'),
  },
  {
    name: 'destinations',
    label: (w) => w.destinations,
    icon: 'destinations',
    group: 'delivery',
    key: 'd',
    makes: (w) => w.newDestination,
    load: () => import('../destinations/destinations.tsx'),
  },
  {
    name: 'routing',
    label: (w) => w.routing,
    icon: 'routing',
    group: 'delivery',
    key: 'r',
    load: () => import('../routing/routing.tsx'),
  },
  { name: 'domains', label: (w) => w.domains, icon: 'domains', group: 'delivery', key: 'o', load: () => import('../domains/domains.tsx') },
  {
    name: 'suppressions',
    label: (w) => w.suppressions,
    icon: 'suppressions',
    group: 'delivery',
    key: 'u',
    areas: [{ at: '/suppressions/unsubscribes', label: (w) => w.unsubscribes }],
    load: () => import('../suppressions/suppressions.tsx'),
  },
  {
    name: 'inbound-routes',
    label: (w) => w.inboundRoutes,
    icon: 'inbound',
    group: 'delivery',
    key: '3',
    makes: (w) => w.newInboundRoute,
    load: () => import('../inbound/inbound.tsx'),
  },
  {
    name: 'bounce-sources',
    label: (w) => w.bounceSources,
    icon: 'sources',
    group: 'delivery',
    key: 'c',
    load: () => import('../sources/sources.tsx'),
  },
  {
    name: 'templates',
    label: (w) => w.templates,
    icon: 'templates',
    group: 'content',
    key: 'm',
    makes: (w) => w.newTemplate,
    load: () => import('../templates/templates.tsx'),
  },
  {
    name: 'forms',
    label: (w) => w.forms,
    icon: 'forms',
    group: 'content',
    key: 'f',
    makes: (w) => w.newForm,
    load: () => import('../forms/forms.tsx'),
  },
  {
    name: 'submissions',
    at: '/forms/submissions',
    has: /^\/forms\/(?:[^/]+\/)?submissions(?:\/|$)/,
    label: (w) => w.submissions,
    short: (w) => w.submissionsShort,
    icon: 'submissions',
    group: 'content',
    key: 's',
    load: () => import('../submissions/submissions.tsx'),
  },
  {
    name: 'websites',
    label: (w) => w.websites,
    icon: 'websites',
    group: 'content',
    key: '1',
    makes: (w) => w.newWebsite,
    load: () => import('../websites/websites.tsx'),
  },
  {
    name: 'keys',
    label: (w) => w.keysAndLogins,
    icon: 'keys',
    group: 'access',
    key: 'k',
    makes: (w) => w.newKey,
    load: () => import('../access/keys.tsx'),
  },
  {
    name: 'webhooks',
    label: (w) => w.webhooks,
    icon: 'webhooks',
    group: 'access',
    key: 'w',
    makes: (w) => w.newEndpoint,
    load: () => import('../webhooks/webhooks.tsx'),
  },
  {
    name: 'settings',
    at: '/settings/alerts',
    label: (w) => w.alerts,
    icon: 'phone',
    group: 'access',
    key: '5',
    makes: (w) => w.newAlertChannel,
    load: () => import('../alerts/alerts.tsx'),
  },
  {
    name: 'agents',
    label: (w) => w.integrations,
    icon: 'integrations',
    group: 'access',
    key: 'x',
    load: () => import('../agents/agents.tsx'),
  },
  {
    name: 'projects',
    label: (w) => w.projects,
    icon: 'projects',
    group: 'access',
    key: 'j',
    makes: (w) => w.newProject,
    load: () => import('../projects/projects.tsx'),
  },
  { name: 'members', label: (w) => w.members, icon: 'members', group: 'access', key: 'p', load: () => import('../members/members.tsx') },
  {
    name: 'docs',
    at: '/docs/api',
    isOpen: true,
    label: (w) => w.apiReference,
    icon: 'reference',
    group: 'access',
    key: 'a',
    load: () => import('../reference/reference.tsx'),
  },
  {
    name: 'usage',
    isForBilling: true,
    label: (w) => w.usage,
    icon: 'usage',
    group: 'foot',
    key: 'b',
    load: () => import('../usage/usage.tsx'),
  },
  {
    name: 'audit',
    label: (w) => w.auditLog,
    icon: 'scheduled',
    group: 'foot',
    isForChanging: true,
    key: 'g',
    load: () => import('../audit/audit.tsx'),
  },
  {
    name: 'findings',
    isForBilling: true,
    label: (w) => w.findings,
    icon: 'diagnose',
    group: 'none',
    key: '4',
    load: () => import('../findings/findings-screen.tsx'),
  },
  {
    name: 'moving-in',
    label: (w) => w.movingIn,
    icon: 'download',
    group: 'none',
    key: '2',
    load: () => import('../moving-in/moving-in.tsx'),
  },
  {
    name: 'profile',
    isPersonal: true,
    label: (w) => w.profile,
    icon: 'account',
    group: 'none',
    key: '0',
    load: () => import('../profile/profile.tsx'),
  },
  {
    name: 'orgs',
    isForBilling: true,
    label: (w) => w.organizations,
    icon: 'members',
    group: 'foot',
    key: 'z',
    makes: (w) => w.createTeam,
    isForAdministrators: true,
    load: () => import('../organizations/organizations.tsx'),
  },
  {
    name: 'operator',
    isPersonal: true,
    label: (w) => w.operator,
    icon: 'operator',
    group: 'foot',
    key: 'y',
    load: () => import('../operator/operator.tsx'),
  },
]

/** Screens without the operator's screen, unless the user is the operator. */
export const screens: readonly Screen[] = all.filter(({ name }) => name !== 'operator' || boot.isOperator)

/** Whether the role in the current organization permits the screen. The start screen explains the situation to all others. */
export const mayOpen = ({ isOpen, isPersonal, isForBilling }: Screen): boolean =>
  isOpen === true || isPersonal === true || (organization.value !== undefined && (mayRead.value || isForBilling === true))

/** Whether navigation and palette list the screen. */
export const isListed = (screen: Screen): boolean => mayOpen(screen) && (screen.isForChanging !== true || mayChange.value)

/** Returns the start path of a screen. */
export const beginningOf = ({ name, at = `/${name}` }: Screen): string => at

export const screenAt = (path: string): Screen | undefined => {
  const [, name = ''] = path.split('/')
  return screens.find(({ has }) => has?.test(path)) ?? screens.find((screen) => screen.name === name)
}
