/** All screens of the user, found by address, entry of the navigation and tab. */
import { boot } from '../app/boot.ts'
import { organization } from '../app/location.ts'
import { badges, type Badge } from '../app/open.ts'
import { mayChange, mayRead } from '../app/permissions.ts'
import type { Screen } from './screen.ts'
import { screenList } from './screen-list.ts'
import { settingsScreens } from './settings-screens.ts'

/** Screens without the operator's screen, unless the user is the operator. */
export const screens: readonly Screen[] = [...screenList, ...settingsScreens].filter(({ at }) => at !== '/operator' || boot.isOperator)

/** Whether the role in the current organization permits the screen. The start screen explains the situation to all others. */
export const mayOpen = ({ isOpen, isPersonal, isForBilling }: Screen): boolean =>
  isOpen === true || isPersonal === true || (organization.value !== undefined && (mayRead.value || isForBilling === true))

/** Whether navigation and palette list the screen. */
export const isListed = (screen: Screen): boolean => mayOpen(screen) && (screen.isForChanging !== true || mayChange.value)

const isAt = ({ at, has }: Screen, path: string): boolean =>
  path === at || (at !== '/' && path.startsWith(`${at}/`)) || has?.test(path) === true

/** Returns the screen with the longest matching address. */
export const screenAt = (path: string): Screen | undefined =>
  screens
    .filter((screen) => isAt(screen, path))
    .sort((a, b) => Number(b.has !== undefined) - Number(a.has !== undefined) || b.at.length - a.at.length)[0]

/** Returns the path segments after the address of the screen. */
export const restOf = ({ at, base = at }: Screen, path: string): readonly string[] =>
  path.slice(base.length).split('/').filter(Boolean).map(decodeURIComponent)

const find = (address: string | undefined): Screen | undefined => screens.find(({ at }) => at === address)

/** Returns the entry of the navigation that contains the screen. */
export function entryOf(screen: Screen): Screen {
  const around = find(screen.within)
  return around ? entryOf(around) : screen
}

/** Returns the tabs next to a screen, including itself. */
export function tabsOf(screen: Screen): readonly Screen[] {
  if (!screen.tab) return []
  const first = screen.group === undefined && screen.section === undefined ? screen.within : screen.at
  return screens.filter((one) => one.tab && (one.at === first || one.within === first) && isListed(one))
}

/** Returns the badge of a link to several screens: the number of broken items, else the badge of the first screen. */
export function badgeOf(shown: readonly Screen[]): Badge | undefined {
  const all = shown.flatMap(({ at }) => badges.value[at] ?? [])
  const count = all.reduce((sum, { count: one, isBroken }) => sum + (isBroken ? one : 0), 0)
  return count > 0 ? { count, isBroken: true } : badges.value[shown[0]?.at ?? '']
}

/** Returns all screens of an entry. */
export const screensOf = (entry: Screen): readonly Screen[] => screens.filter((screen) => entryOf(screen) === entry)
