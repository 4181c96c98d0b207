/** Where forms find what they are drawn with. */
export const formAssetsPath = '/f/assets'
