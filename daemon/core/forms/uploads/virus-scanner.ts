/** What looks for viruses. It leaves the process, so it stands behind an interface. */

/** `virus` is what it found, null is nothing. */
export interface ScanResult {
  readonly virus: string | null
}

export interface VirusScanner {
  /** Throws `ScanFailed`, at once when the signal says so. */
  scan(octets: AsyncIterable<Uint8Array>, signal?: AbortSignal): Promise<ScanResult>
}

/** There is no result. */
export class ScanFailed extends Error {
  override readonly name = 'ScanFailed'
  /** It could not be reached, or gave up in the middle: other files would fare no better now. */
  readonly isDown: boolean

  constructor(message: string, { isDown, cause }: { readonly isDown: boolean; readonly cause?: unknown }) {
    super(message, cause === undefined ? undefined : { cause })
    this.isDown = isDown
  }
}
