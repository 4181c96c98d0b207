/** Contents and order of the documentation, read from the tables of its index. A new row adds a page. */
import { readFileSync } from 'node:fs'
import { basename, join, posix, relative } from 'node:path'

export const root = join(import.meta.dirname, '../../..')
/** Folder of the chapters, from the root of the repository. */
export const docsFolder = 'admin-api/docs'

/** A chapter in the index. */
export interface Entry {
  /** Path under `/docs/`, such as `guides/wordpress`. */
  readonly path: string
  /** From the root of the repository. */
  readonly file: string
  /** Label in lists of chapters, shorter than the title. */
  readonly label: string
  /** Protocols of a guide, such as `SMTP`. */
  readonly wayIn: string | undefined
  /** One line of Markdown. */
  readonly about: string
}

/** A third-level heading of the index with its table. */
export interface Group {
  readonly title: string
  readonly entries: readonly Entry[]
}

/** A second-level heading of the index, shown in the header of every page. */
export interface Section {
  readonly title: string
  readonly groups: readonly Group[]
}

export function readContents(): readonly Section[] {
  const index = readFileSync(join(root, docsFolder, 'README.md'), 'utf8')
  return partsOf(index, '##').map(([title, text]) => ({
    title,
    groups: partsOf(text, '###').map(([name, table]) => ({ title: name, entries: rowsOf(table).flatMap(entriesOf) })),
  }))
}

/** Returns the headings of one level, each with the text below it. */
const partsOf = (text: string, level: string): readonly (readonly [title: string, text: string])[] =>
  text
    .split(new RegExp(`^${level} `, 'm'))
    .slice(1)
    .map((part) => {
      const end = part.indexOf('\n')
      return [part.slice(0, end).trim(), part.slice(end)]
    })

/** Returns the cells of the table rows. */
function rowsOf(text: string): readonly (readonly string[])[] {
  const lines = text.split('\n').filter((line) => line.startsWith('|'))
  return lines.slice(2).map((line) => line.split('|').map((cell) => cell.trim()).slice(1, -1)) // prettier-ignore
}

/** A first cell may link to several chapters. */
function entriesOf(cells: readonly string[]): readonly Entry[] {
  const [first = ''] = cells
  return [...first.matchAll(/\[([^\]]+)\]\(([^)#]+\.md)\)/g)].map(([, label = '', target = '']) => {
    const file = posix.join(docsFolder, target)
    return {
      path: pathOf(file),
      file,
      label: label[0]?.toUpperCase() + label.slice(1),
      wayIn: cells.length > 2 ? cells[1] : undefined,
      about: cells.at(-1) ?? '',
    }
  })
}

/** Returns the path of a document; a document of another folder gets its file name. */
export function pathOf(file: string): string {
  const own = relative(docsFolder, file)
  return (own.startsWith('..') ? basename(file) : own).replace(/\.md$/, '')
}
