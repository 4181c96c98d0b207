/** The file kinds that forms accept. The octets alone determine the kind and the extension. */
import { safeFilename } from '#config/mail/file-names.ts'

export type FileKind = 'png' | 'jpeg' | 'gif' | 'webp' | 'pdf'

interface FileKindFacts {
  readonly contentType: string
  /** The first extension is the default. */
  readonly extensions: readonly string[]
}

export const fileKinds: Readonly<Record<FileKind, FileKindFacts>> = {
  png: { contentType: 'image/png', extensions: ['png'] },
  jpeg: { contentType: 'image/jpeg', extensions: ['jpg', 'jpeg', 'jpe', 'jfif'] },
  gif: { contentType: 'image/gif', extensions: ['gif'] },
  webp: { contentType: 'image/webp', extensions: ['webp'] },
  pdf: { contentType: 'application/pdf', extensions: ['pdf'] },
}

const anyExtension = new Set(Object.values(fileKinds).flatMap(({ extensions }) => extensions))
const maxName = 200

/** Returns the declared name, made safe, with an extension of the actual kind. A PNG named `photo.jpg` becomes `photo.png`. */
export function fileName(declared: string, kind: FileKind): string {
  const { contentType, extensions } = fileKinds[kind]
  const name = safeFilename(declared, contentType)
  const [, stem = name, extension = ''] = /^(.+)\.([^.]{1,16})$/u.exec(name) ?? []
  if (extensions.includes(extension.toLowerCase()) && name.length <= maxName) return name
  const kept = anyExtension.has(extension.toLowerCase()) ? stem : name
  return safeFilename(`${[...kept].slice(0, maxName - 8).join('')}.${extensions[0] ?? kind}`, contentType)
}
