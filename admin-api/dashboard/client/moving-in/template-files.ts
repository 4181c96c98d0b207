/** Converts template files of another service for the import. */

/** Maximum size of a request. */
export const maxTemplateBytes = 16 * 1024 * 1024

/** Thrown for a `.json` file that is not valid JSON. Names the file. */
export class NotJson extends Error {
  readonly file: string

  constructor(file: string) {
    super(`${file} is not JSON`)
    this.file = file
  }
}

/** Parses JSON. Any other file is the HTML or text of a template that is named after the file. Throws `NotJson`. */
async function documentOf(file: File, subject: string): Promise<unknown> {
  const text = (await file.text()).replace(/^\uFEFF/, '')
  if (/\.json$/i.test(file.name)) {
    try {
      return JSON.parse(text) as unknown
    } catch {
      throw new NotJson(file.name)
    }
  }
  const name = file.name.replace(/\.\w+$/, '')
  return { id: name, name, ...(subject.trim() !== '' && { subject: subject.trim() }), [/\.txt$/i.test(file.name) ? 'text' : 'html']: text }
}

/** Throws `NotJson`. */
export const documentsOf = (files: readonly File[], subject: string): Promise<unknown[]> =>
  Promise.all(files.map((file) => documentOf(file, subject)))

export const hasPlain = (files: readonly File[]): boolean => files.some(({ name }) => !/\.json$/i.test(name))
