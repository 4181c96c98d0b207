/** Paths of the dashboard, as registered in the service. */
import { dashboardOperations } from '../../../../admin-api/dashboard/mount.ts'
import { formerPaths } from '../../../../admin-api/dashboard/moved.ts'
import { dashboardAssets } from '../../../../admin-api/dashboard/shell-page.ts'
import type { Place } from './screen-walk.ts'

const same = (described: object): object => described

/** Current paths with parameters in braces, without the start screen. */
export const screenPaths: readonly string[] = dashboardOperations({ signedIn: same, open: same } as never, {} as never)
  .map(({ path }) => path)
  .filter((path) => !path.startsWith(dashboardAssets) && !formerPaths.includes(path))

const patterns = screenPaths.map((path) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`))

export const isScreen = (path: string): boolean => path === '/' || patterns.some((pattern) => pattern.test(path))

const braces = (path: string): string => path.replaceAll(/\{\w+\}/g, '{}')

/** Returns the paths that are not among the places, regardless of queries. */
export function pathsBeyond(places: readonly Place[]): string[] {
  const reached = new Set(places.map(({ kind }) => braces(kind.split(' ')[0] ?? '')))
  return ['/', ...screenPaths].filter((path) => !reached.has(braces(path)))
}
