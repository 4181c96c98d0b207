/** Words of the frame around the screens. English is part of the first load. */
import type { Catalogs } from '../../../catalogs/dashboard/dashboard-catalogs.ts'
import english from '../../../catalogs/dashboard/en/shell.json'
import { catalog } from './catalog.ts'

export type ShellWords = Catalogs['shell']

export const words = catalog(
  'shell',
  (language) => import(`../../../catalogs/dashboard/${language}/shell.json`),
  english as unknown as ShellWords, // compiled by the build
)
