/** Rule for the dashboard: only `app/` sets the page size of a list, so that no screen shows one page as the whole list. */
import type { Source } from './source.ts'

const client = 'admin-api/dashboard/client/'
const pageSize = /\blimit: ?(?:['"`\d]|String\()/

/** Page sizes in screens of the dashboard. `useAll` reads whole lists, `useList` pages, and `firstOf` a fixed number of rows. */
export const cutLists = (sources: readonly Source[]): string[] =>
  sources
    .filter(({ path }) => path.startsWith(client) && !path.startsWith(`${client}app/`))
    .flatMap(({ path, text }) =>
      text
        .split('\n')
        .flatMap((line, index) =>
          pageSize.test(line) ? [`${path}:${String(index + 1)} sets a page size: use useAll, useList or firstOf of app/`] : [],
        ),
    )
