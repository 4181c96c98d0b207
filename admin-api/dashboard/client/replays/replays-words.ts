/** Words of this screen, loaded with it. */
import { catalog } from '../words/catalog.ts'

export const words = catalog('replays', (language) => import(`../../../catalogs/dashboard/${language}/replays.json`))
