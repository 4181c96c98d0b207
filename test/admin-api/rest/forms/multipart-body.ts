/** Form bodies in the multipart format of browsers. */

/** A field, or a file with its name and declared type. */
export type Part = readonly [key: string, value: string] | readonly [key: string, file: Buffer, name: string, type?: string]

export const boundary = '----WebKitFormBoundary7MA4YWxkTrZu0gW'

export function multipartBody(parts: readonly Part[], mark = boundary): Buffer {
  const pieces = parts.flatMap(([key, value, name, type = 'application/octet-stream']) => [
    Buffer.from(`--${mark}\r\nContent-Disposition: form-data; name="${key}"`),
    Buffer.from(name === undefined ? '\r\n\r\n' : `; filename="${name}"\r\nContent-Type: ${type}\r\n\r\n`),
    Buffer.from(value),
    Buffer.from('\r\n'),
  ])
  return Buffer.concat([...pieces, Buffer.from(`--${mark}--\r\n`)])
}

export const multipartType = (mark = boundary): string => `multipart/form-data; boundary=${mark}`
