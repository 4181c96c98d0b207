/** Texts of the shell. English is part of the initial load. */
import type { Catalogs } from '../../../catalogs/dashboard/dashboard-catalogs.ts'
import english from '../../../catalogs/dashboard/en/shell.json'
import { catalog } from './catalog.ts'

export type ShellTexts = Catalogs['shell']

export const texts = catalog(
  'shell',
  (language) => import(`../../../catalogs/dashboard/${language}/shell.json`),
  english as unknown as ShellTexts, // the build compiles the messages
)
