export async function findMutants() {
  return 1;
}
