/** Files with templates of another service, as the import takes them. */

/** As much as one request takes. */
export const maxTemplateBytes = 16 * 1024 * 1024

/** The name of a file that is no JSON although it should be. */
export class NotJson extends Error {
  readonly file: string

  constructor(file: string) {
    super(`${file} is not JSON`)
    this.file = file
  }
}

/** JSON as it is; anything else is the HTML or the text of one template, which is called as its file is. Throws `NotJson`. */
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
