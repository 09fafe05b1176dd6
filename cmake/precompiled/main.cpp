// Its target compiles the headers beside it.
int main() {}
